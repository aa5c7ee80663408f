import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Bootstrap } from '../../src/platform/local/demo.ts'
import { listenOn } from '../../src/platform/node-http.ts'
import { eventually, type RunningProcess, startProcess } from '../support/processes.ts'

let directory: string
let panel: RunningProcess
let bootstrap: Bootstrap

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roost-shutdown-'))
  const env = { PORT: '0', DATA_DIR: directory }
  panel = await startProcess('functions/all/node.ts', { env, ready: /Roost serves at/ })
  bootstrap = JSON.parse(await readFile(join(directory, 'bootstrap.json'), 'utf8')) as Bootstrap
})
afterEach(async () => {
  await panel.kill()
  await rm(directory, { recursive: true, force: true })
})

const newEmail = JSON.stringify({ email: 'later@example.test', password: 'x' })

/** A request of which the panel has read the head and waits for the rest. */
async function beginRequest(): Promise<{ asked: ClientRequest; answered: Promise<IncomingMessage> }> {
  const asked = request(`${bootstrap.url}/api/client/account/email`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${bootstrap.user.client_key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(newEmail),
      // The panel answers this once it has the head.
      expect: '100-continue',
    },
  })
  const answered = once(asked, 'response').then(([answer]) => answer as IncomingMessage)
  answered.catch(() => undefined)
  asked.flushHeaders()
  await once(asked, 'continue')
  asked.write(newEmail.slice(0, 10))
  return { asked, answered }
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
    const { port, close } = await listenOn({ HOST: '127.0.0.1', PORT: 0 }, never)
    const asked = request({ port, host: '127.0.0.1', headers: { expect: '100-continue' } })
    const cut = once(asked, 'response')
    cut.catch(() => undefined)
    asked.flushHeaders()
    await once(asked, 'continue')
    await close(Date.now())
    await expect(cut).rejects.toThrow()
  })
})

describe('a process that is told to end', { timeout: 120_000 }, () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s lets nobody in, answers in full what it has begun, and ends with 0',
    async (signal) => {
      const { asked, answered } = await beginRequest()
      panel.child.kill(signal)
      await eventually(isRefused, 60)
      expect(panel.child.exitCode).toBeNull()
      asked.end(newEmail.slice(10))
      const answer = await answered
      const { errors } = JSON.parse(await text(answer)) as { errors: unknown[] }
      expect([answer.statusCode, errors.length]).toEqual([400, 1])
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
