import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { asRequestError } from '../../api/error.ts'
import { changeModes, deleteFiles, type FileEntry, filesQuery, renameFiles } from '../../api/files.ts'
import { moveToTrash, trashQuery } from '../../api/trash.ts'
import { toast, toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { useFiles } from './files-context.tsx'
import { pathFrom } from './paths.ts'

/** What a folder held before a change. */
type Taken = { before: FileEntry[] | undefined } | undefined
type Change<Variables> = (entries: FileEntry[], variables: Variables) => FileEntry[]

/** Shows a change of the folder before it is made, and takes it back when it is refused. */
function useOptimistic() {
  const { id } = useServer()
  const { directory } = useFiles()
  const { t } = useTranslation('files')
  const client = useQueryClient()
  const { queryKey } = filesQuery(id, directory)
  const rollBack = (taken: Taken) => client.setQueryData(queryKey, taken?.before)
  return <Variables>(change: Change<Variables>) => ({
    rollBack,
    onMutate: async (variables: Variables) => {
      await client.cancelQueries({ queryKey })
      const before = client.getQueryData(queryKey)
      if (before) client.setQueryData(queryKey, change(before, variables))
      return { before }
    },
    onError: (error: unknown, _: Variables, taken: Taken) => {
      rollBack(taken)
      toastError(error, t('failed'))
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['files', id] }),
  })
}

const without: Change<readonly string[]> = (entries, names) => {
  const gone = new Set(names)
  return entries.filter(({ name }) => !gone.has(name))
}

/** A file has another name. */
export function useRename() {
  const { id } = useServer()
  const { directory } = useFiles()
  const optimistic = useOptimistic()
  return useMutation({
    mutationFn: (file: { from: string; to: string }) => renameFiles(id, directory, [file]),
    ...optimistic<{ from: string; to: string }>((entries, { from, to }) =>
      entries.map((entry) => (entry.name === from ? { ...entry, name: to } : entry)),
    ),
  })
}

/** Files are in another folder. */
export function useMove() {
  const { id } = useServer()
  const { directory } = useFiles()
  const { t } = useTranslation('files')
  const optimistic = useOptimistic()
  return useMutation({
    mutationFn: ({ names, target }: { names: readonly string[]; target: string }) =>
      renameFiles(
        id,
        directory,
        names.map((name) => ({
          from: name,
          to: pathFrom(directory, target === '/' ? `/${name}` : `${target}/${name}`),
        })),
      ),
    ...optimistic<{ names: readonly string[]; target: string }>((entries, { names }) =>
      without(entries, names),
    ),
    onSuccess: (_, { names, target }) => toast(t('moved', { count: names.length, folder: target })),
  })
}

/** Files are gone for good. */
export function useDelete() {
  const { id } = useServer()
  const { directory } = useFiles()
  const { t } = useTranslation('files')
  const optimistic = useOptimistic()
  return useMutation({
    mutationFn: (names: readonly string[]) => deleteFiles(id, directory, names),
    ...optimistic<readonly string[]>(without),
    onSuccess: (_, names) => toast(t('deleted', { count: names.length })),
  })
}

/** Files are in the trash; where there is none, deleting them for good is offered. */
export function useTrash() {
  const { id } = useServer()
  const { directory, open } = useFiles()
  const { t } = useTranslation('files')
  const client = useQueryClient()
  const { onMutate, rollBack, onError, onSettled } = useOptimistic()<readonly string[]>(without)
  const isOff = () =>
    client.fetchQuery({ ...trashQuery(id, 1), staleTime: 0 }).then(
      () => false,
      (error: unknown) => asRequestError(error)?.status === 403,
    )
  return useMutation({
    mutationFn: (names: readonly string[]) => moveToTrash(id, directory, names),
    onMutate,
    onError: async (error, names, taken) => {
      if (asRequestError(error)?.status !== 403 || !(await isOff())) return onError(error, names, taken)
      rollBack(taken)
      open({ kind: 'delete', names, isTrashOff: true })
    },
    onSuccess: (_, names) => toast(t('trashed', { count: names.length })),
    onSettled: async () => {
      await Promise.all([onSettled(), client.invalidateQueries({ queryKey: ['trash', id] })])
    },
  })
}

/** Files have these rights. */
export function useChangeModes() {
  const { id } = useServer()
  const { directory } = useFiles()
  const optimistic = useOptimistic()
  return useMutation({
    mutationFn: ({ names, mode }: { names: readonly string[]; mode: string }) =>
      changeModes(id, directory, names, mode),
    ...optimistic<{ names: readonly string[]; mode: string }>((entries, { names, mode }) =>
      entries.map((entry) => (names.includes(entry.name) ? { ...entry, mode_bits: mode } : entry)),
    ),
  })
}
