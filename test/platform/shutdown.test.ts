import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Bootstrap } from '../../src/platform/local/demo.ts'
import { listenHttp } from '../../src/platform/node-http.ts'
import { makePanelFolder, type PanelFolder } from '../support/panel-folder.ts'
import { eventually, type RunningProcess, startProcess } from '../support/processes.ts'

let folder: PanelFolder
let panel: RunningProcess
let bootstrap: Bootstrap

beforeEach(async () => {
  folder = await makePanelFolder()
  const env = { PORT: '0', DATA_DIR: folder.data }
  panel = await startProcess('functions/all/start.js', { env, ready: /Roost serves at/ })
  bootstrap = JSON.parse(await readFile(join(folder.data, 'bootstrap.json'), 'utf8')) as Bootstrap
})
afterEach(async () => {
  await panel.kill()
  await folder.remove()
})

const newEmail = JSON.stringify({ email: 'later@example.test', password: 'x' })

/** Sends a request of which the panel has read the head and waits for the rest. */
async function beginRequest(): Promise<{ outgoing: ClientRequest; answered: Promise<IncomingMessage> }> {
  const outgoing = request(`${bootstrap.url}/api/client/account/email`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${bootstrap.user.client_key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(newEmail),
      // The panel answers this once it has the head.
      expect: '100-continue',
    },
  })
  const answered = once(outgoing, 'response').then(([answer]) => answer as IncomingMessage)
  answered.catch(() => undefined)
  outgoing.flushHeaders()
  await once(outgoing, 'continue')
  outgoing.write(newEmail.slice(0, 10))
  return { outgoing, answered }
}

const isRefused = () =>
  new Promise<boolean>((resolve) => {
    const { hostname, port } = new URL(bootstrap.url)
    const socket = connect(Number(port), hostname)
    const end = (refused: boolean) => {
      socket.destroy()
      resolve(refused)
    }
    socket.once('connect', () => end(false))
    socket.once('error', () => end(true))
  })

const exitCode = async (): Promise<number | null> => {
  if (panel.child.exitCode === null && panel.child.signalCode === null) await once(panel.child, 'exit')
  return panel.child.exitCode
}

describe('a port that closes', () => {
  const never = () => new Promise<Response>(() => undefined)

  it('cuts off what is not answered in time', async () => {
    const { port, close } = await listenHttp({ HOST: '127.0.0.1', PORT: 0 }, never)
    const outgoing = request({ port, host: '127.0.0.1', headers: { expect: '100-continue' } })
    const cut = once(outgoing, 'response')
    cut.catch(() => undefined)
    outgoing.flushHeaders()
    await once(outgoing, 'continue')
    await close(Date.now())
    await expect(cut).rejects.toThrow()
  })
})

describe('npm start', { timeout: 120_000 }, () => {
  it.skipIf(process.platform === 'win32')(
    'forwards SIGTERM: the panel ends in order and frees its lock before npm ends',
    async () => {
      await panel.stop()
      const output: string[] = []
      const npm = spawn('npm', ['start'], {
        env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', DATA_DIR: folder.data },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
      await eventually(() => /Roost serves at/.test(output.join('')), 60)
      const lock = join(folder.data, 'lock')
      const { pid } = JSON.parse(await readFile(lock, 'utf8')) as { pid: number }
      npm.kill('SIGTERM')
      const [code] = await once(npm, 'exit')
      expect([code, existsSync(lock)]).toEqual([0, false])
      expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    },
  )
})

describe('a process that is told to end', { timeout: 120_000 }, () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s accepts no new requests, completes those in flight, and exits with 0',
    async (signal) => {
      const { outgoing, answered } = await beginRequest()
      panel.child.kill(signal)
      await eventually(isRefused, 60)
      expect(panel.child.exitCode).toBeNull()
      outgoing.end(newEmail.slice(10))
      const answer = await answered
      const { errors } = JSON.parse(await text(answer)) as { errors: unknown[] }
      expect([answer.statusCode, errors.length]).toEqual([400, 1])
      expect(await exitCode()).toBe(0)
    },
  )

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s while it waits for its database exits with 0',
    async (signal) => {
      await panel.kill()
      const env = { PORT: '0', DATA_DIR: folder.data, DATABASE_URL: 'postgres://roost@127.0.0.1:1/none' }
      panel = await startProcess('functions/all/start.js', { env, ready: /The database is away/ })
      panel.child.kill(signal)
      expect(await exitCode()).toBe(0)
    },
  )

  it('twice ends at once, with 1', async () => {
    const { answered } = await beginRequest()
    panel.child.kill('SIGTERM')
    await eventually(isRefused, 60)
    // Signals that come together count as one, so it is told until it hears.
    await eventually(() => {
      panel.child.kill('SIGTERM')
      return panel.child.exitCode !== null
    }, 20)
    expect(await exitCode()).toBe(1)
    await expect(answered).rejects.toThrow()
  })
})
