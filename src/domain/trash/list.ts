import { and, asc, count, desc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm'
import { QueryBuilder } from 'drizzle-orm/pg-core'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { embedMany } from '../../db/embed.ts'
import type { RowPage } from '../../db/pagination.ts'
import { servers, settings, trashItems } from '../../db/schema.ts'
import type { TrashItem } from '../../db/tables/trash-items.ts'
import { forbidden } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { integer } from '../fields.ts'
import { definitionOf, type SettingKey } from '../settings/definitions.ts'
import { getSetting } from '../settings/settings.ts'

const featureKey = 'features.file_trash' satisfies SettingKey
const perPage = 25

/** Spec: getClientServersByServerTrash. */
export const TrashQuery = () => z.object({ page: integer(1, 100_000).nullish() })

/** Refuses with 403 while the feature is disabled. Spec: docs/api.md#features. */
export async function requireTrashEnabled(panel: Panel): Promise<void> {
  refuseDisabled(await getSetting(panel, featureKey))
}

/**
 * Lists a page of the trash of a server without expired items, newest first, in one statement. Refuses with 403
 * while the feature is disabled. Spec: docs/files.md#trash.
 */
export async function listTrash(
  panel: Panel,
  server: { id: number },
  requestedPage: number | null | undefined,
): Promise<RowPage<TrashItem>> {
  const page = requestedPage ?? 1
  const builder = new QueryBuilder({ casing: 'snake_case' })
  const where = and(eq(trashItems.serverId, server.id), gt(trashItems.expiresAt, panel.now()))
  const ids = builder
    .select({ id: trashItems.id })
    .from(trashItems)
    .where(where)
    .orderBy(desc(trashItems.deletedAt), asc(trashItems.id))
    .limit(perPage)
    .offset((page - 1) * perPage)
  const found = single(
    await panel.db
      .select({
        isEnabled: isEnabledSql(builder),
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
  if (!isEnabled) throw forbidden('trash_off', 'The trash for files is switched off.')
}

/** Selects whether the feature is enabled, as part of another statement. */
const isEnabledSql = (builder: QueryBuilder): SQL<boolean> => {
  const stored = builder.select({ value: settings.value }).from(settings).where(eq(settings.key, featureKey))
  return sql<boolean>`coalesce((${stored}) = 'true'::jsonb, ${definitionOf(featureKey).defaultValue}::boolean)`
}
