import * as z from 'zod'
import type { TrashItem } from '../../../db/tables/trash-items.ts'
import { type Page, Timestamp, timestamp } from '../../../http/resource.ts'

const TrashItemShape = () =>
  z.strictObject({
    id: z.uuid(),
    name: z.string(),
    path: z.string(),
    is_file: z.boolean(),
    ready: z.boolean(),
    deleted_at: Timestamp(),
    expires_at: Timestamp(),
  })

/** A page of the trash, with items outside the usual envelope. Spec: getClientServersByServerTrash. */
export const TrashPage = () =>
  z.strictObject({
    data: z.array(TrashItemShape()),
    meta: z.strictObject({
      current_page: z.int().min(1),
      last_page: z.int().min(1),
      total: z.int(),
    }),
  })

export const presentTrash = (page: Page<TrashItem>): z.output<ReturnType<typeof TrashPage>> => ({
  data: page.rows.map((item) => ({
    id: item.id,
    name: item.name,
    path: item.path,
    is_file: item.isFile,
    ready: item.ready,
    deleted_at: timestamp(item.deletedAt),
    expires_at: timestamp(item.expiresAt),
  })),
  meta: {
    current_page: page.page,
    last_page: Math.max(1, Math.ceil(page.total / page.perPage)),
    total: page.total,
  },
})
