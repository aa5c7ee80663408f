import { openNeon } from '../../src/platform/neon.ts'
import type { OpenedDatabase } from '../../src/platform/postgres.ts'
import { startNeonProxy } from './neon-proxy.ts'

/** The database as Workers reach it: statements over HTTP, each transaction over a WebSocket of its own. */
export async function openNeonForTests(
  url: string,
  onStatement: (text: string) => void,
): Promise<OpenedDatabase> {
  const proxy = await startNeonProxy(url)
  const opened = openNeon(url, { http: true, poolSize: 1, localProxy: proxy.address, onStatement })
  return {
    ...opened,
    close: async () => {
      await opened.close()
      await proxy.close()
    },
  }
}
