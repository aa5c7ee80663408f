import { describe } from 'vitest'
import { startNode } from '../../src/platform/node.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { makePanelFolder } from '../support/panel-folder.ts'
import { sendRaw } from '../support/raw-http.ts'
import { anyHosts, smokeSuite } from './smoke.ts'

const hasPostgres = await findPostgres('the smoke suite on Node')

describe.skipIf(!hasPostgres)('Node', () => {
  smokeSuite(
    'Node',
    async ({ environment }) => {
      const folder = await makePanelFolder()
      const here = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder.data }
      const panel = await startNode({ ...environment, ...here }, surfaces, async () => null)
      return {
        origin: panel.url,
        fetch: (method, path, { ip, ...request }) =>
          sendRaw(new URL(panel.url), method, path, { ...request, ...(ip ? { from: ip } : {}) }),
        close: async () => {
          await panel.close()
          await folder.remove()
        },
      }
    },
    anyHosts,
  )
})
