import { randomUUID } from 'node:crypto'
import type { Database } from '../db/database.ts'
import { countPendingMigrations } from '../db/migration-state.ts'
import type { Panel, PanelConfig } from '../panel.ts'
import { commandOf } from '../platform/command-names.ts'
import { finishDeferred } from '../platform/deferred-work.ts'
import type { Env } from '../platform/env.ts'
import { openDataDirectory, shareDataDirectory } from '../platform/local/data-directory.ts'
import { openLocalServices } from '../platform/local/services.ts'
import { openPanel } from '../platform/open-panel.ts'
import { panelUrlOf } from '../platform/panel-url.ts'
import { OperationError } from './faults.ts'
import { dispatchOperation, type RpcRequest } from './operations.ts'
import { checkTimeoutMs } from './operations/checks.ts'

/** Runs an operation in this process, with services that are opened for it and closed afterwards. */
export async function runLocally(env: Env, request: RpcRequest): Promise<unknown> {
  const directory = env.DATABASE_URL
    ? await shareDataDirectory(env.DATA_DIR)
    : await openDataDirectory(env.DATA_DIR)
  try {
    const url = panelUrlOf(env, env.PORT)
    const { services } = await openLocalServices(env, { directory, url, deliver: refuseDelivery })
    const deferred: Promise<unknown>[] = []
    const config: PanelConfig = { ...services.config, daemonTimeoutMs: checkTimeoutMs }
    const requestContext = { ip: '127.0.0.1', requestId: randomUUID() }
    const panel: Panel = {
      ...openPanel({ ...services, config }, { ...requestContext, defer: (work) => void deferred.push(work) }),
      actor: { kind: 'system' },
    }
    try {
      // The doctor checks the schema itself.
      if (env.DATABASE_URL && request.verb !== 'doctor') await requireMigrated(panel.db)
      return await dispatchOperation(panel, request)
    } finally {
      await finishDeferred(deferred)
      await services.close()
    }
  } finally {
    await directory.release()
  }
}

/** Throws unless the database has the schema of this code; only `npm run migrate` and a starting panel migrate it. */
async function requireMigrated(db: Database): Promise<void> {
  const pending = await countPendingMigrations(db)
  if (pending === 0) return
  const pendingText = pending === 1 ? '1 migration is' : `${pending} migrations are`
  throw new OperationError(
    pending === null
      ? 'The table migrations cannot be read: it is unknown whether the schema is the newest.'
      : `${pendingText} pending: run ${commandOf('migrate')} first.`,
  )
}

/** Refuses messages of the queue, since this process has no app. The minute tick of the panel finds the jobs. */
const refuseDelivery = async () => new Response(null, { status: 503 })
