import type { TFunction } from 'i18next'
import { deleteFiles, downloadUrl, packFiles } from '../../api/files.ts'
import { saveBlob } from '../../components/save-file.ts'
import { toastError } from '../../components/toast.tsx'
import { fetchFile } from './fetch-file.ts'
import { joinPath } from './paths.ts'
import type { UpdateTask } from './tasks.ts'

/** A larger archive is downloaded by the browser, which tells no page when it is done. */
const maxFetchedBytes = 256 * 1024 * 1024

type PackedDownload = {
  server: string
  directory: string
  names: readonly string[]
  /** What the file is called on the user's computer. */
  name: string
  canRemove: boolean
  update: UpdateTask
  t: TFunction<'files'>
}

/**
 * Lets the node pack entries, downloads the archive and removes it from the server. An archive that stays, because it
 * is too large to know when it has arrived or because the user may not delete files, is named in the answer.
 */
export async function downloadPacked(wanted: PackedDownload) {
  const { server, directory, names, t } = wanted
  const archive = await packFiles(server, directory, names)
  const path = joinPath(directory, archive.name)
  const remove = () => deleteFiles(server, directory, [archive.name])
  if (archive.size > maxFetchedBytes) {
    location.assign(await downloadUrl(server, path))
    const text = t('download.stays', { name: archive.name })
    const run = () => void remove().catch((error: unknown) => toastError(error, t('failed')))
    return wanted.canRemove ? { text, action: { label: t('delete'), run } } : { text }
  }
  try {
    if (!(await saveArchive(wanted, path, archive.size))) return t('download.cancelled')
  } finally {
    if (wanted.canRemove) await remove().catch((error: unknown) => toastError(error, t('failed')))
  }
  return wanted.canRemove
    ? t('download.done', { name: wanted.name })
    : t('download.stays', { name: archive.name })
}

/** Returns false when the user has cancelled it. */
async function saveArchive({ server, name, update, t }: PackedDownload, path: string, size: number) {
  const abort = new AbortController()
  update({ text: t('download.receiving', { name }), size, cancel: () => abort.abort() })
  try {
    const blob = await fetchFile(server, path, {
      signal: abort.signal,
      maxBytes: maxFetchedBytes,
      onProgress: (done) => update({ done }),
    })
    saveBlob(name, blob)
    return true
  } catch (error) {
    if (abort.signal.aborted) return false
    throw error
  }
}
