import { openNeon } from '../../src/platform/neon.ts'
import type { DatabaseHandle } from '../../src/platform/postgres.ts'
import { startNeonProxy } from './neon-proxy.ts'

/** Opens the database as Workers do: statements over HTTP, each transaction over its own WebSocket. */
export async function openNeonForTests(
  url: string,
  onStatement: (text: string) => void,
): Promise<DatabaseHandle> {
  const proxy = await startNeonProxy(url)
  const opened = openNeon(url, { usesHttp: true, poolSize: 1, localProxy: proxy.address, onStatement })
  return {
    ...opened,
    close: async () => {
      await opened.close()
      await proxy.close()
    },
  }
}
