import { useTranslation } from '../../app/use-translation.ts'
import { copyFile, packFiles, unpackFile } from '../../api/files.ts'
import { useServer } from '../server-context.tsx'
import { useFilePermissions, useFiles } from './files-context.tsx'
import { joinPath, nameOf } from './paths.ts'
import { runTask, type TaskRun } from './tasks.ts'

/** Packs, unpacks, copies and downloads entries of the open folder. The tasks continue while other pages are open. */
export function useNodeTasks() {
  const { id, server } = useServer()
  const { directory } = useFiles()
  const { t } = useTranslation('files')
  const rights = useFilePermissions()
  const start = (text: string, run: TaskRun['run'], failure = t('failed')) =>
    void runTask({ server: id, serverName: server.name, text, failure, run })
  const pack = (names: readonly string[]) =>
    start(t('packing', { count: names.length }), async () =>
      t('packed', { name: (await packFiles(id, directory, names)).name }),
    )
  const unpack = (name: string) =>
    start(t('unpacking', { name }), async () =>
      t((await unpackFile(id, directory, name)) ? 'unpacked' : 'unpacks_on', { name }),
    )
  const copy = (name: string) =>
    start(t('copying', { name }), async () => {
      await copyFile(id, joinPath(directory, name))
      return t('copied', { name })
    })
  /** A node copies files only, so folders are left out and the answer says so. */
  const copyAll = (names: readonly string[], hasFolders: boolean) =>
    start(t('copying_files', { count: names.length }), async (update) => {
      const paths = names.map((name) => joinPath(directory, name))
      await copyFiles(id, paths, (done) => update({ done, size: names.length }))
      const copied = t('copied_files', { count: names.length })
      return hasFolders ? `${copied} ${t('folders_not_copied')}` : copied
    })
  const downloadAll = (names: readonly string[]) =>
    start(
      t('download.packing', { count: names.length }),
      async (update) => {
        const { downloadPacked } = await import('./download-packed.ts')
        const name = `${directory === '/' ? server.name : nameOf(directory)}.tar.gz`
        return downloadPacked({ server: id, directory, names, name, canRemove: rights.remove, update, t })
      },
      t('download.failed'),
    )
  return { pack, unpack, copy, copyAll, downloadAll }
}

async function copyFiles(server: string, paths: readonly string[], onCopied: (count: number) => void) {
  for (const [at, path] of paths.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- the panel changes the files of a server one at a time
    await copyFile(server, path)
    onCopied(at + 1)
  }
}
