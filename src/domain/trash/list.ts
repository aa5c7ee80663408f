import { and, asc, count, desc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm'
import { QueryBuilder } from 'drizzle-orm/pg-core'
import * as z from 'zod'
import { only } from '../../db/database.ts'
import { embedMany } from '../../db/embed.ts'
import type { RowPage } from '../../db/pagination.ts'
import { servers, settings, trashItems } from '../../db/schema.ts'
import type { TrashItem } from '../../db/tables/trash-items.ts'
import { forbidden } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { integer } from '../fields.ts'
import { definitionOf, type SettingKey } from '../setting-definitions.ts'
import { setting } from '../settings.ts'

const feature = 'features.file_trash' satisfies SettingKey
const perPage = 25

/** Spec: Limits, trash list page size. */
export const TrashQuery = () => z.object({ page: integer(1, 100_000).nullish() })

/** The trash can be used. Refuses with 403 while the feature is off. Spec: Errors. */
export async function requireTrash(panel: Panel): Promise<void> {
  refuseDisabled(await setting(panel, feature))
}

/**
 * One page of what is in the trash of the server and has not expired, newest first, in one statement. Refuses
 * with 403 while the feature is off. Spec: Client API, file trash.
 */
export async function listTrash(
  panel: Panel,
  server: { id: number },
  asked: number | null | undefined,
): Promise<RowPage<TrashItem>> {
  const page = asked ?? 1
  const builder = new QueryBuilder({ casing: 'snake_case' })
  const where = and(eq(trashItems.serverId, server.id), gt(trashItems.expiresAt, panel.now()))
  const ids = builder
    .select({ id: trashItems.id })
    .from(trashItems)
    .where(where)
    .orderBy(desc(trashItems.deletedAt), asc(trashItems.id))
    .limit(perPage)
    .offset((page - 1) * perPage)
  const found = only(
    await panel.db
      .select({
        isEnabled: isEnabled(builder),
        total: sql<number>`(${builder.select({ total: count() }).from(trashItems).where(where)})`.mapWith(
          Number,
        ),
        rows: embedMany(trashItems, {
          where: (row) => inArray(row.id, ids),
          orderBy: (row) => sql`${row.deletedAt} desc, ${row.id}`,
        }),
      })
      .from(servers)
      .where(eq(servers.id, server.id)),
  )
  refuseDisabled(found.isEnabled)
  return { rows: found.rows, total: found.total, page, perPage }
}

function refuseDisabled(isEnabled: boolean): void {
  if (!isEnabled) throw forbidden('The trash for files is switched off.')
}

/** The feature's switch, to be read along with something else. */
const isEnabled = (builder: QueryBuilder): SQL<boolean> => {
  const stored = builder.select({ value: settings.value }).from(settings).where(eq(settings.key, feature))
  return sql<boolean>`coalesce((${stored}) = 'true'::jsonb, ${definitionOf(feature).fallback}::boolean)`
}
