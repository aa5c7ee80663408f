import type { Server } from '../../db/tables/servers.ts'
import type { Tx } from '../../panel.ts'
import type { EventName } from '../activity/events.ts'
import { type EntryKey, recordAdminEvent, recordAdminUpdate } from '../activity/record.ts'

type NamedServer = Pick<Server, 'id' | 'name'>
type ServerEvent = Extract<EventName, `admin:server.${string}` | `admin:transfer.${string}`>

/** Records what an administrator did to a server. Call it in the transaction of the change. */
export const recordServerEvent = (
  tx: Tx,
  event: ServerEvent,
  { id, name }: NamedServer,
  properties: Record<string, unknown> = {},
): Promise<EntryKey> => recordAdminEvent(tx, event, { type: 'server', id }, { name, ...properties })

/** Records the fields in which the server differs from the row before; nothing when there are none. */
export const recordServerUpdate = (
  tx: Tx,
  event: ServerEvent,
  before: Server,
  after: NamedServer,
): Promise<void> =>
  recordAdminUpdate(tx, event, { type: 'server', id: after.id }, { name: after.name, before, after })
