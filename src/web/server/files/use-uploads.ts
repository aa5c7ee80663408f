import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { filesQuery } from '../../api/files.ts'
import { queryClient } from '../../api/query-client.ts'
import { toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { joinPath, nameOf, parentOf } from './paths.ts'
import { type Chosen, uploadsTo } from './upload-queue.ts'

/** Files of which some would replace others, until the reader has decided. */
export type Collision = { chosen: readonly Chosen[]; paths: readonly string[] }

/** Files are put into the queue; where some would replace others, the reader is asked first. */
export function useUploads(directory: string) {
  const { id } = useServer()
  const { t } = useTranslation('files')
  const [collision, setCollision] = useState<Collision | null>(null)

  const add = async (chosen: readonly Chosen[]) => {
    const directories = [...new Set(chosen.map((each) => each.directory))]
    const folders = new KnownFolders(id, directory)
    const known = new Map(
      await Promise.all(directories.map(async (each) => [each, await folders.namesIn(each)] as const)),
    )
    const paths = chosen.filter(({ file, directory }) => known.get(directory)?.has(file.name)).map(pathOf)
    if (paths.length > 0) setCollision({ chosen, paths })
    else uploadsTo(id).add(chosen)
  }

  const decide = (decision: 'replace' | 'skip' | 'cancel') => {
    const taken = new Set(collision?.paths)
    const chosen = collision?.chosen ?? []
    setCollision(null)
    if (decision === 'replace') uploadsTo(id).add(chosen)
    if (decision === 'skip') uploadsTo(id).add(chosen.filter((each) => !taken.has(pathOf(each))))
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

const pathOf = ({ file, directory }: Chosen) => joinPath(directory, file.name)

/** What is in folders, each looked into once; those that are not there cost no request, however many they are. */
class KnownFolders {
  readonly #server: string
  readonly #base: string
  readonly #names = new Map<string, Promise<Set<string>>>()

  constructor(server: string, base: string) {
    this.#server = server
    this.#base = base
  }

  namesIn(directory: string): Promise<Set<string>> {
    const known = this.#names.get(directory) ?? this.#look(directory)
    this.#names.set(directory, known)
    return known
  }

  async #look(directory: string): Promise<Set<string>> {
    const isBase = directory === this.#base || directory === '/'
    if (!isBase && !(await this.namesIn(parentOf(directory))).has(nameOf(directory))) return new Set()
    const entries = await queryClient
      .fetchQuery({ ...filesQuery(this.#server, directory), staleTime: 0 })
      // What is wrong with the folder, the upload finds out.
      .catch(() => [])
    return new Set(entries.map(({ name }) => name))
  }
}
