import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { filesQuery } from '../../api/files.ts'
import { queryClient } from '../../api/query-client.ts'
import { toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { joinPath, nameOf, parentOf } from './paths.ts'
import { type ChosenFile, uploadsTo } from './upload-queue.ts'

/** Files of which some already exist, until the user has decided. */
export type Collision = { chosen: readonly ChosenFile[]; paths: readonly string[] }

/** Adds files to the upload queue. Asks the user first when some already exist. */
export function useUploads(directory: string) {
  const { id } = useServer()
  const { t } = useTranslation('files')
  const [collision, setCollision] = useState<Collision | null>(null)

  const add = async (chosen: readonly ChosenFile[]) => {
    const directories = [...new Set(chosen.map((each) => each.directory))]
    const folders = new FolderNames(id, directory)
    const namesByDirectory = new Map(
      await Promise.all(directories.map(async (each) => [each, await folders.namesIn(each)] as const)),
    )
    const paths = chosen
      .filter(({ file, directory }) => namesByDirectory.get(directory)?.has(file.name))
      .map(pathOf)
    if (paths.length > 0) setCollision({ chosen, paths })
    else uploadsTo(id).add(chosen)
  }

  const decide = (decision: 'replace' | 'skip' | 'cancel') => {
    const existingPaths = new Set(collision?.paths)
    const chosen = collision?.chosen ?? []
    setCollision(null)
    if (decision === 'replace') uploadsTo(id).add(chosen)
    if (decision === 'skip') uploadsTo(id).add(chosen.filter((each) => !existingPaths.has(pathOf(each))))
  }

  return {
    add: (chosen: Promise<readonly ChosenFile[]> | readonly ChosenFile[]) =>
      void Promise.resolve(chosen)
        .then(add)
        .catch((error: unknown) => toastError(error, t('upload.unreadable'))),
    collision,
    decide,
  }
}

const pathOf = ({ file, directory }: ChosenFile) => joinPath(directory, file.name)

/** The file names in folders, each fetched once. New folders need no request. */
class FolderNames {
  readonly #server: string
  readonly #base: string
  readonly #names = new Map<string, Promise<Set<string>>>()

  constructor(server: string, base: string) {
    this.#server = server
    this.#base = base
  }

  namesIn(directory: string): Promise<Set<string>> {
    const namesByDirectory = this.#names.get(directory) ?? this.#fetchNames(directory)
    this.#names.set(directory, namesByDirectory)
    return namesByDirectory
  }

  async #fetchNames(directory: string): Promise<Set<string>> {
    const isBase = directory === this.#base || directory === '/'
    if (!isBase && !(await this.namesIn(parentOf(directory))).has(nameOf(directory))) return new Set()
    const { entries } = await queryClient
      .fetchQuery({ ...filesQuery(this.#server, directory), staleTime: 0 })
      // An error of the folder will be reported by the upload.
      .catch(() => ({ entries: [] }))
    return new Set(entries.map(({ name }) => name))
  }
}
