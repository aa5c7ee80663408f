import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { filesQuery } from '../../api/files.ts'
import { toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { joinPath } from './paths.ts'
import { type Chosen, uploadsTo } from './upload-queue.ts'

/** Files of which some would replace others, until the reader has decided. */
export type Collision = { chosen: readonly Chosen[]; paths: readonly string[] }

/** Files are put into the queue; where some would replace others, the reader is asked first. */
export function useUploads() {
  const { id } = useServer()
  const { t } = useTranslation('files')
  const client = useQueryClient()
  const [collision, setCollision] = useState<Collision | null>(null)

  const namesIn = async (directory: string): Promise<Set<string>> => {
    const entries = await client
      .fetchQuery({ ...filesQuery(id, directory), staleTime: 0, retry: false })
      // A folder that is not there yet holds nothing; what else is wrong with it, the upload finds out.
      .catch(() => [])
    return new Set(entries.map(({ name }) => name))
  }

  const add = async (chosen: readonly Chosen[]) => {
    const directories = [...new Set(chosen.map(({ directory }) => directory))]
    const known = new Map(
      await Promise.all(directories.map(async (each) => [each, await namesIn(each)] as const)),
    )
    const paths = chosen
      .filter(({ file, directory }) => known.get(directory)?.has(file.name))
      .map(({ file, directory }) => joinPath(directory, file.name))
    if (paths.length > 0) setCollision({ chosen, paths })
    else uploadsTo(id).add(chosen)
  }

  const decide = (decision: 'replace' | 'skip' | 'cancel') => {
    const taken = new Set(collision?.paths)
    const chosen = collision?.chosen ?? []
    setCollision(null)
    if (decision === 'replace') uploadsTo(id).add(chosen)
    if (decision === 'skip')
      uploadsTo(id).add(chosen.filter(({ file, directory }) => !taken.has(joinPath(directory, file.name))))
  }

  return {
    add: (chosen: Promise<readonly Chosen[]> | readonly Chosen[]) =>
      void Promise.resolve(chosen)
        .then(add)
        .catch((error: unknown) => toastError(error, t('upload.unreadable'))),
    collision,
    decide,
  }
}
