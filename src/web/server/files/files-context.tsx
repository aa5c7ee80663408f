import { useQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { asRequestError } from '../../api/error.ts'
import type { FileEntry } from '../../api/files.ts'
import { trashQuery } from '../../api/trash.ts'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'

/** A dialog about files, with what it needs. */
export type OpenDialog =
  | { kind: 'folder' | 'pull' }
  | { kind: 'rename'; entry: FileEntry }
  | { kind: 'move'; names: readonly string[] }
  | { kind: 'modes'; entries: readonly FileEntry[] }
  /** `isTrashDisabled` when the files should have gone to the trash. */
  | { kind: 'delete'; names: readonly string[]; isTrashDisabled?: boolean }

type FilesView = {
  directory: string
  /** All entries of the folder, filtered or not. */
  entries: readonly FileEntry[]
  /** Whether the folder has more entries than these. */
  isTruncated: boolean
  open: (dialog: OpenDialog) => void
}

const Context = createContext<FilesView | null>(null)
export const FilesProvider = Context

/** Returns the open folder. */
export function useFiles(): FilesView {
  const value = useContext(Context)
  if (!value) throw new Error('There is no folder here.')
  return value
}

/** Returns what the user may do with the files of this server now. */
export function useFilePermissions() {
  const { server, can } = useServer()
  const isAvailable = !isBlocked(server)
  return {
    read: isAvailable && can('file.read-content'),
    create: isAvailable && can('file.create'),
    update: isAvailable && can('file.update'),
    remove: isAvailable && can('file.delete'),
    pack: isAvailable && can('file.archive'),
  }
}

/** Whether any action works on several files; otherwise selecting them has no use. */
export function useCanSelect(): boolean {
  const rights = useFilePermissions()
  return rights.update || rights.remove || rights.pack || rights.create
}

/** Whether the trash is enabled; true while that is unknown. */
export function useHasTrash(): boolean {
  const { id } = useServer()
  const { remove } = useFilePermissions()
  const trash = useQuery({ ...trashQuery(id, 1), enabled: remove })
  return asRequestError(trash.error)?.status !== 403
}
