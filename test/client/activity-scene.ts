import { activity } from '../../src/db/schema.ts'
import { only } from '../../src/db/database.ts'
import type { Answer } from '../support/answers.ts'
import type { World } from '../support/world.ts'

/** Adds an entry to the audit log, `ago` seconds before the world's now. */
export async function makeEntry(
  world: World,
  { ago = 0, ...values }: Partial<typeof activity.$inferInsert> & { ago?: number } = {},
) {
  const timestamp = new Date(world.clock.now.getTime() - ago * 1000)
  return only(
    await world.database.db
      .insert(activity)
      .values({ event: 'server:power.start', source: 'web', ip: '203.0.113.9', timestamp, ...values })
      .returning(),
  )
}

/** The events of the entries in an answer, in their order. */
export const eventsIn = ({ body }: Answer): string[] =>
  body.data.map(({ attributes }: { attributes: { event: string } }) => attributes.event)

/** Status, code, and field with rule of each refusal. */
export const refusalIn = ({ status, body }: Answer): unknown[] => [
  status,
  ...body.errors.map(({ code, meta }: any) => (meta ? `${meta.source_field}: ${meta.rule}` : code)),
]
