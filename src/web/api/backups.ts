import { queryOptions } from '@tanstack/react-query'
import type { BackupResource } from '../../surfaces/client/resources/backup.ts'
import { request } from './request.ts'
import { type Item, type PageOf, rowsOf, type Wire } from './resources.ts'

export type Backup = Wire<typeof BackupResource>
type BackupPage = PageOf<Backup> & { meta: { backup_count: number } }
export type Backups = { rows: Backup[]; used: number }

const mostPerPage = 50
/** Milliseconds between two looks at what is being made. */
const betweenLooks = 3000

const pathOf = (server: string, backup = '') =>
  `/api/client/servers/${server}/backups${backup && `/${backup}`}`

export const backupsKey = (server: string) => ['server', server, 'backups'] as const

/** All backups of a server, the newest first, and how many count on its limit. Asked for again while one is made. */
export const backupsQuery = (server: string) =>
  queryOptions({
    queryKey: backupsKey(server),
    queryFn: async ({ signal }): Promise<Backups> => {
      const rows: Backup[] = []
      for (let page = 1; ; page += 1) {
        const query = { page, per_page: mostPerPage }
        const answer = await request<BackupPage>('GET', pathOf(server), { query, signal })
        rows.push(...rowsOf(answer))
        const { backup_count: used, pagination } = answer.meta
        if (page >= pagination.total_pages) return { rows: rows.toReversed(), used }
      }
    },
    refetchInterval: ({ state }) => (state.data?.rows.some(isRunning) ? betweenLooks : false),
  })

export const isRunning = ({ completed_at }: Backup): boolean => completed_at === null
export const hasFailed = (backup: Backup): boolean => !isRunning(backup) && !backup.is_successful

export type NewBackup = { name: string; ignored: string; is_locked: boolean }

/** The node begins to make it. */
export const createBackup = (server: string, body: NewBackup) =>
  request<Item<Backup>>('POST', pathOf(server), { body })

/** A locked one is not locked any more, another one is. */
export const toggleBackupLock = (server: string, backup: string) =>
  request<Item<Backup>>('POST', `${pathOf(server, backup)}/lock`)

/** Where its archive can be fetched once, for a few minutes. */
export const backupAddress = async (server: string, backup: string) =>
  (await request<Item<{ url: string }>>('GET', `${pathOf(server, backup)}/download`)).attributes.url

/** The node begins to restore the server from it; with `truncate` it removes all files before. */
export const restoreBackup = (server: string, backup: string, truncate: boolean) =>
  request<void>('POST', `${pathOf(server, backup)}/restore`, { body: { truncate } })

export const deleteBackup = (server: string, backup: string) =>
  request<void>('DELETE', pathOf(server, backup))
