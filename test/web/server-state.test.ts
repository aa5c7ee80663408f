import { describe, expect, it } from 'vitest'
import type { Server } from '../../src/web/api/resources.ts'
import { displayedState, hasConsole } from '../../src/web/server/server-state.ts'

const free = {
  is_suspended: false,
  is_transferring: false,
  is_installing: false,
  is_node_under_maintenance: false,
  status: null,
} as unknown as Server
const serverIn = (state: Partial<Server>): Server => ({ ...free, ...state })

describe('the console of a server', () => {
  it.each([
    ['without a conflict', {}, true, true],
    ['after a failed reinstallation', { status: 'reinstall_failed', is_installing: true }, true, true],
    ['being installed', { status: 'installing', is_installing: true }, false, true],
    ['being restored', { status: 'restoring_backup' }, false, true],
    ['being transferred', { is_transferring: true }, false, true],
    ['suspended', { is_suspended: true }, false, false],
    ['under maintenance', { is_node_under_maintenance: true }, false, false],
    ['whose installation failed', { status: 'install_failed', is_installing: true }, false, false],
  ] as const)('is asked for as the panel gives it: %s', (_name, state, isForUsers, isForAdministrators) => {
    const server = serverIn(state as Partial<Server>)
    expect([hasConsole(server, false), hasConsole(server, true)]).toEqual([isForUsers, isForAdministrators])
  })
})

describe('the state of a server as it is shown', () => {
  const shown = [
    displayedState(free, 'running', false),
    displayedState(free, 'starting', false),
    displayedState(free, 'offline', false),
    displayedState(free, 'running', true),
    displayedState(serverIn({ is_suspended: true }), null, false),
    displayedState(serverIn({ is_node_under_maintenance: true }), null, false),
  ]

  it('has a shape as well as a colour', () => {
    expect(shown.map(({ shape }) => shape)).toEqual(['disc', 'half', 'ring', 'triangle', 'bar', 'diamond'])
  })
})
