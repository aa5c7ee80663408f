import { useMutation, useMutationState, useQueryClient } from '@tanstack/react-query'
import { LoaderCircle } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { copyFile, downloadUrl, packFiles, unpackFile } from '../../api/files.ts'
import { toast, toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { useFiles } from './files-context.tsx'
import { joinPath } from './paths.ts'

/** A task that runs on the node: its text, and a function that returns the text for when it is done. */
type NodeTask = { text: string; run: () => Promise<string> }

const keyOf = (server: string) => ['file-work', server]

function useNodeTask() {
  const { id } = useServer()
  const { t } = useTranslation('files')
  const client = useQueryClient()
  return useMutation({
    mutationKey: keyOf(id),
    mutationFn: ({ run }: NodeTask) => run(),
    onSuccess: (done) => toast(done),
    onError: (error) => toastError(error, t('failed')),
    onSettled: () => client.invalidateQueries({ queryKey: ['files', id] }),
  })
}

/** Packs, unpacks and copies files. The tasks continue while other folders are open. */
export function useNodeTasks() {
  const { id } = useServer()
  const { directory } = useFiles()
  const { t } = useTranslation('files')
  const { mutate } = useNodeTask()
  const pack = (names: readonly string[]) =>
    mutate({
      text: t('packing', { count: names.length }),
      run: async () => t('packed', { name: (await packFiles(id, directory, names)).name }),
    })
  const unpack = (name: string) =>
    mutate({
      text: t('unpacking', { name }),
      run: async () => t((await unpackFile(id, directory, name)) ? 'unpacked' : 'unpacks_on', { name }),
    })
  const copy = (name: string) =>
    mutate({
      text: t('copying', { name }),
      run: async () => {
        await copyFile(id, joinPath(directory, name))
        return t('copied', { name })
      },
    })
  return { pack, unpack, copy }
}

/** Lists the running tasks. */
export function NodeTaskList() {
  const { id } = useServer()
  const texts = useMutationState({
    filters: { mutationKey: keyOf(id), status: 'pending' },
    select: ({ state }) => (state.variables as NodeTask).text,
  })
  return (
    <div role="status" className="flex flex-col gap-2 empty:hidden">
      {texts.map((text, at) => (
        <p
          key={`${at} ${text}`}
          className="flex items-center gap-2.5 rounded-control bg-info-soft px-3 py-2 text-sm text-info"
        >
          <LoaderCircle aria-hidden className="size-4 shrink-0 animate-spin" />
          <span className="min-w-0 wrap-anywhere">{text}</span>
        </p>
      ))}
    </div>
  )
}

/** Downloads a file directly from the node. */
export function useDownload() {
  const { id } = useServer()
  const { t } = useTranslation('files')
  const { mutate, isPending } = useMutation({
    mutationFn: (path: string) => downloadUrl(id, path),
    onSuccess: (url) => location.assign(url),
    onError: (error) => toastError(error, t('failed')),
  })
  return { download: mutate, isPending }
}
