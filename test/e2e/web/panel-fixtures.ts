import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { demoServer, type PanelProcess, startPanelProcess } from '../../support/panel-process.ts'
import { eventually } from '../../support/processes.ts'
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

/** A server of the player. */
export type OwnServer = { id: number; identifier: string; name: string }

/** Adds a server of the player beside that of the demo, on this allocation or any free one, and waits for its installation. */
export async function addServer(panel: PanelProcess, name: string, allocation?: number): Promise<OwnServer> {
  const { attributes: demo } = (await panel.asAdmin('GET', `/servers/${panel.bootstrap.server.id}`)).body
  const feature_limits = { databases: 1, allocations: 2, backups: 4 }
  const place = allocation ?? (await freeAllocations(panel, demo.node))[0]?.id ?? 0
  const input = { ...(await demoServer(panel, demo.user, place)), feature_limits, name }
  const { status, body } = await panel.asAdmin('POST', '/servers', input)
  expect(status, JSON.stringify(body)).toBe(201)
  const { id, identifier } = body.attributes
  await eventually(async () => {
    const { body: server } = await panel.asPlayer('GET', `/servers/${identifier}`)
    return server.attributes?.is_installing === false
  }, 60)
  return { id, identifier, name }
}

async function freeAllocations(panel: PanelProcess, node: number): Promise<{ id: number }[]> {
  const { body } = await panel.asAdmin('GET', `/nodes/${node}/allocations`)
  const all: { attributes: { id: number; assigned: boolean } }[] = body.data
  return all.filter(({ attributes }) => !attributes.assigned).map(({ attributes }) => attributes)
}

/**
 * Adds a server of the player for each of these windows: the panel gives out few tokens a minute for the console of one
 * server, for which those who open it in all of them would wait.
 */
export async function addServerEach<Name extends string>(
  panel: PanelProcess,
  windows: readonly { name: Name }[],
): Promise<Record<Name, OwnServer>> {
  const { attributes: demo } = (await panel.asAdmin('GET', `/servers/${panel.bootstrap.server.id}`)).body
  const free = await freeAllocations(panel, demo.node)
  const added = await Promise.all(
    windows.map(
      async ({ name }, at) => [name, await addServer(panel, `World on a ${name}`, free[at]?.id)] as const,
    ),
  )
  return Object.fromEntries(added) as Record<Name, OwnServer>
}

/** Switches a server off, so that a test that is retried can start it. */
export async function switchOff(
  panel: PanelProcess,
  { identifier }: { identifier: string } = panel.bootstrap.server,
): Promise<void> {
  const { status, body } = await panel.asPlayer('POST', `/servers/${identifier}/power`, { signal: 'kill' })
  expect(status, JSON.stringify(body)).toBe(204)
}
