import { useMutation, useMutationState, useQueryClient } from '@tanstack/react-query'
import { LoaderCircle } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { copyFile, downloadUrl, packFiles, unpackFile } from '../../api/files.ts'
import { toast, toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { useFiles } from './files-context.tsx'
import { joinPath } from './paths.ts'

/** Something that the node takes its time for: what it is, and what is said when it is done. */
type Work = { text: string; run: () => Promise<string> }

const keyOf = (server: string) => ['file-work', server]

function useWork() {
  const { id } = useServer()
  const { t } = useTranslation('files')
  const client = useQueryClient()
  return useMutation({
    mutationKey: keyOf(id),
    mutationFn: ({ run }: Work) => run(),
    onSuccess: (done) => toast(done),
    onError: (error) => toastError(error, t('failed')),
    onSettled: () => client.invalidateQueries({ queryKey: ['files', id] }),
  })
}

/** Packing, unpacking and copying, which go on while other folders are shown. */
export function useFileWork() {
  const { id } = useServer()
  const { directory } = useFiles()
  const { t } = useTranslation('files')
  const { mutate } = useWork()
  const pack = (names: readonly string[]) =>
    mutate({
      text: t('packing', { count: names.length }),
      run: async () => t('packed', { name: (await packFiles(id, directory, names)).attributes.name }),
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

/** What is under way at the node. */
export function FileWorkList() {
  const { id } = useServer()
  const texts = useMutationState({
    filters: { mutationKey: keyOf(id), status: 'pending' },
    select: ({ state }) => (state.variables as Work).text,
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

/** The browser fetches a file from the node itself. */
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
