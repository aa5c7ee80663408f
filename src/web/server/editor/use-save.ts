import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { writeFile } from '../../api/files.ts'
import { toast, toastError } from '../../components/toast.tsx'
import { maxEditableBytes } from '../files/entries.ts'
import { useServer } from '../server-context.tsx'
import type { Content } from './code-editor.ts'
import { currentStamp, type FileStamp } from './open-file.ts'
import { byteLength } from './text-file.ts'

/** Why a file was not saved: another user has changed, deleted or created it meanwhile. */
export type SaveConflict = 'changed' | 'gone' | 'exists'

type SaveRequest = Content & { path: string; isForced?: boolean }

/** Saves a file unless it has changed since `opened`; `missing` for a new file. */
export function useSave(opened: FileStamp, onSaved: (path: string) => void) {
  const { id } = useServer()
  const { t } = useTranslation('files')
  const client = useQueryClient()
  const stamp = useRef(opened)
  const [conflict, setConflict] = useState<SaveConflict | null>(null)
  const { mutate, isPending, variables } = useMutation({
    mutationFn: async ({ path, text, markSaved, isForced }: SaveRequest) => {
      const now = await currentStamp(id, path)
      const conflict = isForced ? null : findConflict(stamp.current, now)
      if (conflict) return conflict
      await writeFile(id, path, text)
      markSaved()
      stamp.current = await currentStamp(id, path).catch(() => 'hidden' as const)
      return null
    },
    onSuccess: async (conflict, { path }) => {
      setConflict(conflict)
      if (conflict) return
      toast(t('saved'))
      await client.invalidateQueries({ queryKey: ['files', id] })
      onSaved(path)
    },
    onError: (error) => toastError(error, t('not_saved')),
  })
  const save = (request: SaveRequest) => {
    if (isPending) return
    if (byteLength(request.text) > maxEditableBytes) toastError(null, t('too_large_to_save'))
    else mutate(request)
  }
  const overwrite = () => variables && mutate({ ...variables, isForced: true })
  return {
    save,
    overwrite,
    isPending,
    obstacle: conflict,
    /** The text that was not saved, and where it should have been. */
    unsaved: conflict && variables ? { path: variables.path, text: variables.text } : null,
    dismiss: () => setConflict(null),
  }
}

export type Saving = ReturnType<typeof useSave>

function findConflict(before: FileStamp, now: FileStamp): SaveConflict | null {
  if (before === 'hidden' || now === 'hidden') return null
  if (before === 'missing') return now === 'missing' ? null : 'exists'
  if (now === 'missing') return 'gone'
  return before.modified === now.modified && before.size === now.size ? null : 'changed'
}
