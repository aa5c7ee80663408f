import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import {
  changeModes,
  deleteFiles,
  type FileEntry,
  filesQuery,
  type Folder,
  renameFiles,
} from '../../api/files.ts'
import { moveToTrash, restorePaths, trashQuery } from '../../api/trash.ts'
import { toast, toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { useFilePermissions, useFiles } from './files-context.tsx'
import { joinPath, relativePath } from './paths.ts'

/** The entries of a folder before a change. */
type Snapshot = { before: Folder | undefined } | undefined
type Change<Variables> = (entries: FileEntry[], variables: Variables) => FileEntry[]

/** Shows a change in the folder at once, and rolls it back when the panel refuses it. */
function useOptimisticChange() {
  const { id } = useServer()
  const { directory } = useFiles()
  const { t } = useTranslation('files')
  const client = useQueryClient()
  const { queryKey } = filesQuery(id, directory)
  const rollBack = (snapshot: Snapshot) => client.setQueryData(queryKey, snapshot?.before)
  return <Variables>(change: Change<Variables>) => ({
    rollBack,
    onMutate: async (variables: Variables) => {
      await client.cancelQueries({ queryKey })
      const before = client.getQueryData(queryKey)
      if (before) client.setQueryData(queryKey, { ...before, entries: change(before.entries, variables) })
      return { before }
    },
    onError: (error: unknown, _: Variables, snapshot: Snapshot) => {
      rollBack(snapshot)
      toastError(error, t('failed'))
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['files', id] }),
  })
}

const withoutNames: Change<readonly string[]> = (entries, names) => {
  const removed = new Set(names)
  return entries.filter(({ name }) => !removed.has(name))
}

/** Renames a file. */
export function useRename() {
  const { id } = useServer()
  const { directory } = useFiles()
  const optimistic = useOptimisticChange()
  return useMutation({
    mutationFn: (file: { from: string; to: string }) => renameFiles(id, directory, [file]),
    ...optimistic<{ from: string; to: string }>((entries, { from, to }) =>
      entries.map((entry) => (entry.name === from ? { ...entry, name: to } : entry)),
    ),
  })
}

/** Moves files to another folder. */
export function useMove() {
  const { id } = useServer()
  const { directory } = useFiles()
  const { t } = useTranslation('files')
  const optimistic = useOptimisticChange()
  return useMutation({
    mutationFn: ({ names, target }: { names: readonly string[]; target: string }) =>
      renameFiles(
        id,
        directory,
        names.map((name) => ({
          from: name,
          to: relativePath(directory, target === '/' ? `/${name}` : `${target}/${name}`),
        })),
      ),
    ...optimistic<{ names: readonly string[]; target: string }>((entries, { names }) =>
      withoutNames(entries, names),
    ),
    onSuccess: (_, { names, target }) => toast(t('moved', { count: names.length, folder: target })),
  })
}

/** Deletes files permanently. */
export function useDelete() {
  const { id } = useServer()
  const { directory } = useFiles()
  const { t } = useTranslation('files')
  const optimistic = useOptimisticChange()
  return useMutation({
    mutationFn: (names: readonly string[]) => deleteFiles(id, directory, names),
    ...optimistic<readonly string[]>(withoutNames),
    onSuccess: (_, names) => toast(t('deleted', { count: names.length })),
  })
}

/** Brings back what was just moved to the trash. An existing file is never overwritten. */
function useUndoTrash() {
  const { id } = useServer()
  const { t } = useTranslation('files')
  const client = useQueryClient()
  return useMutation({
    mutationFn: (paths: readonly string[]) => restorePaths(id, paths),
    onSuccess: (missing, paths) => {
      const [first] = missing
      if (first) toastError(null, t('undo_missing', { path: first }))
      else toast(t('undone', { count: paths.length }))
    },
    onError: (error) => toastError(error, t('trash:not_restored')),
    onSettled: async () => {
      await Promise.all([
        client.invalidateQueries({ queryKey: ['trash', id] }),
        client.invalidateQueries({ queryKey: ['files', id] }),
      ])
    },
  })
}

/** Moves files to the trash; when the trash is disabled, offers to delete them permanently. */
export function useTrash() {
  const { id } = useServer()
  const { directory, open } = useFiles()
  const rights = useFilePermissions()
  const undo = useUndoTrash()
  const { t } = useTranslation('files')
  const client = useQueryClient()
  const { onMutate, rollBack, onError, onSettled } = useOptimisticChange()<readonly string[]>(withoutNames)
  const isTrashDisabled = () =>
    client.fetchQuery({ ...trashQuery(id, 1), staleTime: 0 }).then(
      () => false,
      (error: unknown) => asRequestError(error)?.status === 403,
    )
  return useMutation({
    mutationFn: (names: readonly string[]) => moveToTrash(id, directory, names),
    onMutate,
    onError: async (error, names, snapshot) => {
      if (asRequestError(error)?.status !== 403 || !(await isTrashDisabled()))
        return onError(error, names, snapshot)
      rollBack(snapshot)
      open({ kind: 'delete', names, isTrashDisabled: true })
    },
    onSuccess: (_, names) => {
      const paths = names.map((name) => joinPath(directory, name))
      const action = { label: t('undo'), run: () => undo.mutate(paths) }
      toast(t('trashed', { count: names.length }), rights.create ? action : undefined)
    },
    onSettled: async () => {
      await Promise.all([onSettled(), client.invalidateQueries({ queryKey: ['trash', id] })])
    },
  })
}

/** Sets the permissions of files. */
export function useChangeModes() {
  const { id } = useServer()
  const { directory } = useFiles()
  const optimistic = useOptimisticChange()
  return useMutation({
    mutationFn: ({ names, mode }: { names: readonly string[]; mode: string }) =>
      changeModes(id, directory, names, mode),
    ...optimistic<{ names: readonly string[]; mode: string }>((entries, { names, mode }) =>
      entries.map((entry) => (names.includes(entry.name) ? { ...entry, mode_bits: mode } : entry)),
    ),
  })
}
