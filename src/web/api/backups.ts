import { queryOptions } from '@tanstack/react-query'
import type { BackupResource } from '../../surfaces/client/resources/backup.ts'
import { abortedBy, done, json, serverApi } from './client.ts'
import { attributesOf, type AttributesOf } from './resources.ts'

export type Backup = AttributesOf<typeof BackupResource> & { notes: string | null }
export type Backups = { rows: Backup[]; used: number }

const maxPerPage = 50
const pollIntervalMs = 3000

const { backups } = serverApi
const backupApi = backups[':backup']

export const backupsKey = (server: string) => ['server', server, 'backups'] as const

/** All backups of a server, newest first, and how many count towards its limit. Refetched while one is running. */
export const backupsQuery = (server: string) =>
  queryOptions({
    queryKey: backupsKey(server),
    queryFn: async ({ signal }): Promise<Backups> => {
      const rows: Backup[] = []
      for (let page = 1; ; page += 1) {
        const query = { page, per_page: maxPerPage }
        const answer = await json(backups.$get({ param: { server }, query }, abortedBy(signal)))
        rows.push(
          ...answer.data.map(({ attributes, meta }) => ({ ...attributes, notes: meta?.notes ?? null })),
        )
        const { backup_count: used, pagination } = answer.meta
        if (page >= pagination.total_pages) return { rows: rows.toReversed(), used }
      }
    },
    refetchInterval: ({ state }) => (state.data?.rows.some(isRunning) ? pollIntervalMs : false),
  })

export const isRunning = ({ completed_at }: Backup): boolean => completed_at === null
export const hasFailed = (backup: Backup): boolean => !isRunning(backup) && !backup.is_successful

export type NewBackup = { name: string; ignored: string; is_locked: boolean }

/** Starts a backup. */
export const createBackup = (server: string, form: NewBackup) =>
  done(backups.$post({ param: { server }, json: form }))

/** Locks a backup, or unlocks a locked one. */
export const toggleBackupLock = (server: string, backup: string): Promise<Pick<Backup, 'is_locked'>> =>
  json(backupApi.lock.$post({ param: { server, backup } })).then(attributesOf)

/** Replaces the notes about a backup. */
export const changeBackupNotes = (server: string, backup: string, notes: string) =>
  done(backupApi.$patch({ param: { server, backup }, json: { notes } }))

/** Returns a download link for the archive, valid once and for a few minutes. */
export const backupDownloadUrl = async (server: string, backup: string): Promise<string> =>
  (await json(backupApi.download.$get({ param: { server, backup } }))).attributes.url

/** Starts restoring the server from a backup; with `truncate` all files are deleted before. */
export const restoreBackup = (server: string, backup: string, truncate: boolean) =>
  done(backupApi.restore.$post({ param: { server, backup }, json: { truncate } }))

export const deleteBackup = (server: string, backup: string) =>
  done(backupApi.$delete({ param: { server, backup } }))
