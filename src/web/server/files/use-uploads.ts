import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { pathOf } from './chosen-files.ts'
import type { Replacement } from './find-replacements.ts'
import type { ChosenFile } from './upload-queue.ts'

/** Files of which some already exist, until the user has decided. */
export type Collision = { chosen: readonly ChosenFile[]; replacements: readonly Replacement[] }

/** Adds files to the upload queue. Asks the user first when some already exist. */
export function useUploads(directory: string) {
  const { id, server } = useServer()
  const { t } = useTranslation('files')
  const [collision, setCollision] = useState<Collision | null>(null)

  // The queue is loaded with the first upload.
  const upload = async (chosen: readonly ChosenFile[]) =>
    (await import('./upload-queue.ts')).uploadsTo(id, server.name).add(chosen)

  const add = async (chosen: readonly ChosenFile[]) => {
    const { findReplacements } = await import('./find-replacements.ts')
    const replacements = await findReplacements(id, directory, chosen)
    if (replacements.length > 0) setCollision({ chosen, replacements })
    else await upload(chosen)
  }

  const decide = (decision: 'replace' | 'skip' | 'cancel') => {
    const existingPaths = new Set(collision?.replacements.map(({ path }) => path))
    const chosen = collision?.chosen ?? []
    setCollision(null)
    const wanted = decision === 'skip' ? chosen.filter((each) => !existingPaths.has(pathOf(each))) : chosen
    if (decision !== 'cancel') upload(wanted).catch((error: unknown) => toastError(error, t('failed')))
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
