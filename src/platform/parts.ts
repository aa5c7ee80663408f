import { httpDaemon } from '../adapters/daemon.ts'
import { daemonSecret, daemonUrl } from '../domain/daemon-address.ts'
import type { Panel } from '../panel.ts'

/** What lives as long as the process or isolate: connections and clients, opened once. */
export type Parts = Pick<
  Panel,
  | 'config'
  | 'keys'
  | 'db'
  | 'transaction'
  | 'cache'
  | 'flights'
  | 'queue'
  | 'objects'
  | 'mail'
  | 'mysqlHost'
  | 'now'
> & { close: () => Promise<void> }

/** What differs from request to request. */
export type RequestFacts = Pick<Panel, 'ip' | 'requestId' | 'defer'>

/** The panel of one request; whose it is, a surface finds out. */
export function openPanel(parts: Parts, facts: RequestFacts): Panel {
  const { config, keys, db, transaction, cache, flights, queue, objects, mail, mysqlHost, now } = parts
  return {
    config,
    keys,
    db,
    transaction,
    cache,
    flights,
    queue,
    objects,
    mail,
    mysqlHost,
    now,
    ...facts,
    actor: { kind: 'guest' },
    daemon: (node) => httpDaemon(daemonUrl(node), () => daemonSecret({ keys }, node), config.daemonTimeout),
    wake: ({ id, runAt }) => {
      const delay = Math.max(0, Math.ceil((runAt.getTime() - now().getTime()) / 1000))
      // A message that is lost costs a minute: the sweep finds the job.
      const sent = queue
        .send({ id, delay, deduplicationId: `${id}-${runAt.getTime()}` })
        .catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error)
          console.warn(
            JSON.stringify({ level: 'warn', message: 'A job could not be announced.', job: id, reason }),
          )
        })
      facts.defer(sent)
    },
  }
}
