import { activity } from '../../src/db/schema.ts'
import { single } from '../../src/db/database.ts'
import type { Answer } from '../support/answers.ts'
import type { World } from '../support/world.ts'

/** Adds an entry to the audit log, `ago` seconds before the world's now. */
export async function makeEntry(
  world: World,
  { ago = 0, ...values }: Partial<typeof activity.$inferInsert> & { ago?: number } = {},
) {
  const timestamp = new Date(world.clock.now.getTime() - ago * 1000)
  return single(
    await world.database.db
      .insert(activity)
      .values({ event: 'server:power.start', source: 'web', ip: '203.0.113.9', timestamp, ...values })
      .returning(),
  )
}

/** Lists the events of the entries in a response. */
export const eventsIn = ({ body }: Answer): string[] =>
  body.data.map(({ attributes }: { attributes: { event: string } }) => attributes.event)

/** Summarises a refusal: status, and code or field with rule of each error. */
export const refusalIn = ({ status, body }: Answer): unknown[] => [
  status,
  ...body.errors.map(({ code, meta }: any) => (meta?.rule ? `${meta.source_field}: ${meta.rule}` : code)),
]
