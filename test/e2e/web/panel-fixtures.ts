import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { type PanelProcess, startPanelProcess } from '../../support/panel-process.ts'
import type { Account } from './player.ts'

/** Timeout for a panel and a browser to start on a busy machine, in milliseconds. */
export const startTimeout = 240_000

/** Starts a panel at http://localhost, where browsers have passkeys. */
export const startLocalhostPanel = (env: Record<string, string> = {}): Promise<PanelProcess> =>
  startPanelProcess({ HOST: 'localhost', ...env })

/** Makes an account with a unique name: a test that is retried gets another one. */
export async function makeAccount(panel: PanelProcess, name: string): Promise<Account> {
  const username = `${name}.${randomUUID().slice(0, 8)}`
  const account = { username, email: `${username}@roost.example`, password: `password of ${username}` }
  const { status, body } = await panel.asAdmin('POST', '/users', {
    ...account,
    first_name: 'Robin',
    last_name: 'Roost',
  })
  expect(status, JSON.stringify(body)).toBe(201)
  return account
}

/** Switches the demo server off, so that a test that is retried can start it. */
export async function switchOff(panel: PanelProcess): Promise<void> {
  const path = `/servers/${panel.bootstrap.server.identifier}/power`
  const { status, body } = await panel.asPlayer('POST', path, { signal: 'kill' })
  expect(status, JSON.stringify(body)).toBe(204)
}
