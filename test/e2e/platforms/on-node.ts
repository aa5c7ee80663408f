import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signMessage } from '../../../src/dev/qstash/signature.ts'
import { startNode } from '../../../src/platform/node.ts'
import { surfaces } from '../../../src/surfaces/all.ts'
import { freePort } from '../../support/panel-process.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { signingKeys } from '../../support/world.ts'
import type { OpenPlatform } from './platform.ts'

/** Starts all surfaces in this process, over the same managed services as functions. */
export const openNode: OpenPlatform = async (environment) => {
  const directory = await mkdtemp(join(tmpdir(), 'roost-e2e-'))
  const port = await freePort()
  const here = {
    APP_URL: `http://localhost:${port}`,
    HOST: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: directory,
    DATABASE_DRIVER: 'neon',
    DEMO: 'false',
  }
  const panel = await startNode({ ...environment, ...here }, surfaces, async () => null)
  return {
    name: 'Node',
    origin: panel.url,
    tick: () => tickBySchedule(panel.url),
    close: async () => {
      await panel.close()
      await rm(directory, { recursive: true })
    },
  }
}

/** Sends the tick as a schedule of the queue does, because the timer of the process cannot be advanced. */
async function tickBySchedule(origin: string): Promise<void> {
  const url = `${origin}/jobs/tick`
  const signature = signMessage({ key: signingKeys.current, url, body: '{}' })
  const headers = { 'upstash-signature': signature, 'content-type': 'application/json' }
  const { status, text } = await sendRaw(new URL(origin), 'POST', '/jobs/tick', { headers, body: '{}' })
  if (status !== 200) throw new Error(`The tick was refused with ${status}: ${text}`)
}
