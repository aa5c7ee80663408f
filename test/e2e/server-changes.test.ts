import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:net'
import { createConnection } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addNode, demoServer, type PanelProcess, startPanelProcess } from '../support/panel-process.ts'
import { eventually } from '../support/processes.ts'

const mysql = new URL(process.env.TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306')
const hasMysql = await new Promise<boolean>((resolve) => {
  const socket = connect({ host: mysql.hostname, port: Number(mysql.port || 3306), timeout: 1000 })
  const end = (reachable: boolean) => {
    socket.destroy()
    resolve(reachable)
  }
  socket
    .once('connect', () => end(true))
    .once('error', () => end(false))
    .once('timeout', () => end(false))
})
if (!hasMysql) console.warn(`Skipped: databases end to end, nothing at ${mysql.host}.`)

let panel: PanelProcess
let nodes: { id: number; allocations: number[] }[]
let id: number
let uuid: string

beforeAll(async () => {
  panel = await startPanelProcess()
  nodes = [await addNode(panel, 'from', '26100-26102'), await addNode(panel, 'to', '26200-26202')]
  for (const node of nodes) await panel.startDaemon(node.id)
  const [owner] = (await panel.asAdmin('GET', '/users?filter[username]=player')).body.data
  const input = await demoServer(panel, owner.attributes.id, nodes[0]?.allocations[0] ?? 0)
  const created = await panel.asAdmin('POST', '/servers', input)
  ;({ id, uuid } = created.body.attributes)
  await eventually(async () => (await shown()).status === null)
})
afterAll(() => panel?.stop())

const shown = async () => (await panel.asAdmin('GET', `/servers/${id}`)).body.attributes
const state = async () =>
  (await panel.asPlayer('GET', `/servers/${uuid}/resources`)).body.attributes?.current_state
const power = (signal: string) => panel.asPlayer('POST', `/servers/${uuid}/power`, { signal })

/** Reads the server from the daemon of a node, as the panel does. */
async function askDaemon(nodeId: number): Promise<{ status: number; body: any }> {
  const { body } = await panel.asAdmin('GET', `/nodes/${nodeId}/configuration`)
  const answer = await fetch(`http://127.0.0.1:${body.api.port}/api/servers/${uuid}`, {
    headers: { authorization: `Bearer ${body.token}` },
  })
  return { status: answer.status, body: answer.status === 200 ? await answer.json() : null }
}

const folderOn = (nodeId: number) => join(panel.directory, `node-${nodeId}`, 'volumes', uuid)

describe('a server that is changed', { timeout: 90_000 }, () => {
  it('has its daemon know a new build, and starts with a new start command', async () => {
    const [from] = nodes
    const build = await panel.asAdmin('PATCH', `/servers/${id}/build`, {
      allocation: from?.allocations[0],
      limits: { memory: 384, swap: 0, io: 500, cpu: 150, disk: 512 },
      feature_limits: { databases: 1, backups: 0, allocations: 2 },
      add_allocations: [from?.allocations[1]],
    })
    expect([build.status, build.body.attributes?.limits.memory]).toEqual([200, 384])
    const { body } = await askDaemon(from?.id ?? 0)
    expect(body.configuration.build).toMatchObject({ memory_limit: 384, cpu_limit: 150 })
    const { container, egg } = await shown()
    const startup = await panel.asAdmin('PATCH', `/servers/${id}/startup`, {
      startup: `${container.startup_command} --changed`,
      environment: { ...container.environment, MOTD: 'Changed' },
      egg,
      image: container.image,
      skip_scripts: false,
    })
    expect([startup.status, startup.body.attributes?.container.environment.MOTD]).toEqual([200, 'Changed'])
    expect((await power('start')).status).toBe(204)
    await eventually(async () => (await state()) === 'running', 45)
  })

  it('is stopped by its suspension, cannot be started until it is lifted', async () => {
    const from = nodes[0]?.id ?? 0
    expect((await panel.asAdmin('POST', `/servers/${id}/suspend`, [])).status).toBe(204)
    await eventually(async () => (await askDaemon(from)).body.state === 'offline')
    expect((await power('start')).status).toBe(409)
    const { body } = await panel.asAdmin('GET', `/nodes/${from}/configuration`)
    const refused = await fetch(`http://127.0.0.1:${body.api.port}/api/servers/${uuid}/power`, {
      method: 'POST',
      headers: { authorization: `Bearer ${body.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ action: 'start' }),
    })
    expect(refused.status).toBe(400)
    expect((await panel.asAdmin('POST', `/servers/${id}/unsuspend`)).status).toBe(204)
    expect((await power('start')).status).toBe(204)
  })

  it('moves to another node with its files; a second move is cancelled', async () => {
    const [from, to] = [nodes[0]?.id ?? 0, nodes[1]?.id ?? 0]
    await writeFile(join(folderOn(from), 'world.dat'), 'a world of its own')
    const started = await panel.asAdmin('POST', `/servers/${id}/transfer`, {
      node: to,
      allocation: nodes[1]?.allocations[0],
    })
    expect(started.status).toBe(202)
    await eventually(async () => (await shown()).node === to, 60)
    expect(await readFile(join(folderOn(to), 'world.dat'), 'utf8')).toBe('a world of its own')
    await eventually(async () => (await askDaemon(from)).status === 404, 30)
    const freed = await panel.asAdmin('GET', `/nodes/${from}/allocations?filter[server_id]=${id}`)
    expect(freed.body.data).toEqual([])
    expect((await power('start')).status).toBe(204)
    await eventually(async () => (await askDaemon(to)).body?.state === 'running', 30)

    // Large enough that the cancellation comes before the end.
    await writeFile(join(folderOn(to), 'large.bin'), randomBytes(64 * 1024 * 1024))
    const allocation = nodes[0]?.allocations[2]
    const back = await panel.asAdmin('POST', `/servers/${id}/transfer`, { node: from, allocation })
    expect(back.status).toBe(202)
    expect((await panel.asPlayer('GET', `/servers/${uuid}/resources`)).status).toBe(409)
    expect((await panel.asAdmin('DELETE', `/servers/${id}/transfer`)).status).toBe(204)
    const { body } = await panel.asAdmin('GET', `/servers/${id}/transfer`)
    expect([body.attributes.successful, (await shown()).node]).toEqual([false, to])
    expect((await power('start')).status).toBe(204)
    await eventually(async () => (await askDaemon(to)).body?.state === 'running', 30)
  })

  it.skipIf(!hasMysql)('gets a database, whose password works until it is rotated', async () => {
    const host = await panel.asAdmin('POST', '/database-hosts', {
      name: 'here',
      host: mysql.hostname,
      port: Number(mysql.port || 3306),
      username: decodeURIComponent(mysql.username),
      password: decodeURIComponent(mysql.password),
    })
    expect(host.status).toBe(201)
    const input = { database: 'world', remote: '%', host: host.body.attributes.id }
    const created = await panel.asAdmin('POST', `/servers/${id}/databases`, input)
    expect(created.status).toBe(201)
    const database = `/servers/${id}/databases/${created.body.attributes.id}`
    const password = async () =>
      (await panel.asAdmin('GET', `${database}?include=password`)).body.attributes.relationships.password
        .attributes.password
    const { username, database: name } = created.body.attributes
    const logIn = async (secret: string) => {
      const connection = await createConnection({
        host: mysql.hostname,
        port: Number(mysql.port || 3306),
        user: username,
        password: secret,
        database: name,
      })
      await connection.query('create table if not exists player (name varchar(16))')
      await connection.end()
    }
    const first = await password()
    await logIn(first)
    expect((await panel.asAdmin('POST', `${database}/reset-password`)).status).toBe(204)
    await expect(logIn(first)).rejects.toThrow(/denied/i)
    await logIn(await password())
    expect((await panel.asAdmin('DELETE', database)).status).toBe(204)
    await expect(logIn(first)).rejects.toThrow(/denied/i)
    expect((await panel.asAdmin('DELETE', `/database-hosts/${host.body.attributes.id}`)).status).toBe(204)
  })

  it('lets its owner in over SFTP by password, through whichever daemon it stands on', async () => {
    const place = (await shown()).node
    const { body } = await panel.asAdmin('GET', `/nodes/${place}/configuration`)
    const { username, password } = panel.bootstrap.user
    const signIn = async (secret: string) => {
      const answer = await fetch(`http://127.0.0.1:${body.api.port}/api/development/sftp`, {
        method: 'POST',
        headers: { authorization: `Bearer ${body.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ username: `${username}.${uuid.slice(0, 8)}`, password: secret }),
      })
      return [answer.status, await answer.json()]
    }
    expect(await signIn(password)).toEqual([
      200,
      { user: expect.any(String), server: uuid, permissions: ['*'] },
    ])
    expect(await signIn('not the password')).toMatchObject([403, { error: 'invalid credentials' }])
  })

  it('is deleted with everything it had', async () => {
    expect((await panel.asAdmin('DELETE', `/servers/${id}`)).status).toBe(204)
    expect((await panel.asAdmin('GET', `/servers/${id}`)).status).toBe(404)
    for (const node of nodes) {
      expect(
        (await panel.asAdmin('GET', `/nodes/${node.id}/allocations?filter[server_id]=${id}`)).body.data,
      ).toEqual([])
      await eventually(async () => (await askDaemon(node.id)).status === 404)
    }
  })
})
