import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { writeFile } from '../../api/files.ts'
import { toast, toastError } from '../../components/toast.tsx'
import { editableBytes } from '../files/entries.ts'
import { useServer } from '../server-context.tsx'
import type { Content } from './code-editor.ts'
import { currentStamp, type Stamp } from './open-file.ts'
import { byteLength } from './text-file.ts'

/** Why a file was not saved over what is there: somebody else changed, removed or made it meanwhile. */
export type Obstacle = 'changed' | 'gone' | 'exists'

type Saving = Content & { path: string; isForced?: boolean }

/** Saves a file that was like `opened`; `missing` for one that is to be made. */
export function useSave(opened: Stamp, onSaved: (path: string) => void) {
  const { id } = useServer()
  const { t } = useTranslation('files')
  const client = useQueryClient()
  const stamp = useRef(opened)
  const [obstacle, setObstacle] = useState<Obstacle | null>(null)
  const { mutate, isPending, variables } = useMutation({
    mutationFn: async ({ path, text, markSaved, isForced }: Saving) => {
      const now = await currentStamp(id, path)
      const found = isForced ? null : obstacleOf(stamp.current, now)
      if (found) return found
      await writeFile(id, path, text)
      markSaved()
      stamp.current = await currentStamp(id, path).catch(() => 'hidden' as const)
      return null
    },
    onSuccess: async (found, { path }) => {
      setObstacle(found)
      if (found) return
      toast(t('saved'))
      await client.invalidateQueries({ queryKey: ['files', id] })
      onSaved(path)
    },
    onError: (error) => toastError(error, t('not_saved')),
  })
  const save = (saving: Saving) => {
    if (isPending) return
    if (byteLength(saving.text) > editableBytes) toastError(null, t('too_large_to_save'))
    else mutate(saving)
  }
  const overwrite = () => variables && mutate({ ...variables, isForced: true })
  return { save, overwrite, isPending, obstacle, dismiss: () => setObstacle(null) }
}

function obstacleOf(before: Stamp, now: Stamp): Obstacle | null {
  if (before === 'hidden' || now === 'hidden') return null
  if (before === 'missing') return now === 'missing' ? null : 'exists'
  if (now === 'missing') return 'gone'
  return before.modified === now.modified && before.size === now.size ? null : 'changed'
}
