import { useQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { asRequestError } from '../../api/error.ts'
import type { FileEntry } from '../../api/files.ts'
import { trashQuery } from '../../api/trash.ts'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'

/** What is asked before something is done to files. */
export type OpenDialog =
  | { kind: 'folder' | 'pull' }
  | { kind: 'rename'; entry: FileEntry }
  | { kind: 'move'; names: readonly string[] }
  | { kind: 'modes'; entries: readonly FileEntry[] }
  /** `isTrashOff` when these were to go into a trash that there is not. */
  | { kind: 'delete'; names: readonly string[]; isTrashOff?: boolean }

type FilesView = {
  directory: string
  /** What is in the folder, whether it is shown or not. */
  entries: readonly FileEntry[]
  open: (dialog: OpenDialog) => void
}

const Context = createContext<FilesView | null>(null)
export const FilesProvider = Context

/** The folder that the page shows. */
export function useFiles(): FilesView {
  const value = useContext(Context)
  if (!value) throw new Error('There is no folder here.')
  return value
}

/** What the reader may do with the files of this server, as it is now. */
export function useFileRights() {
  const { server, can } = useServer()
  const isFree = !isBlocked(server)
  return {
    read: isFree && can('file.read-content'),
    create: isFree && can('file.create'),
    update: isFree && can('file.update'),
    remove: isFree && can('file.delete'),
    pack: isFree && can('file.archive'),
  }
}

/** Whether anything can be done with several files at once: without that there is nothing to mark them for. */
export function useCanMark(): boolean {
  const rights = useFileRights()
  return rights.update || rights.remove || rights.pack
}

/** Whether there is a trash. While nobody knows, it is tried. */
export function useHasTrash(): boolean {
  const { id } = useServer()
  const { remove } = useFileRights()
  const trash = useQuery({ ...trashQuery(id, 1), enabled: remove })
  return asRequestError(trash.error)?.status !== 403
}
