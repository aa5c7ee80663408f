import type { ChosenFile } from './upload-queue.ts'
import { joinPath } from './paths.ts'

/** Returns where a file is uploaded to. */
export const pathOf = ({ file, directory }: ChosenFile): string => joinPath(directory, file.name)

/** Returns the files of a file input; those of a folder keep their relative paths. */
export const filesFromInput = (files: Iterable<File>, directory: string): ChosenFile[] =>
  [...files].map((file) => {
    const folders = file.webkitRelativePath.split('/').slice(0, -1)
    return {
      file,
      directory: joinPath(directory, folders.join('/')),
      isNewFolder: folders.length > 0,
    }
  })

/** Returns dropped files, also those in folders. Call it while the event is handled. */
export async function droppedFiles(items: DataTransferItemList, directory: string): Promise<ChosenFile[]> {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  const found = await Promise.all(entries.map((entry) => filesIn(entry, directory, false)))
  return found.flat()
}

async function filesIn(
  entry: FileSystemEntry,
  directory: string,
  isNewFolder: boolean,
): Promise<ChosenFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => {
      ;(entry as FileSystemFileEntry).file(resolve, reject)
    })
    return [{ file, directory, isNewFolder }]
  }
  const path = joinPath(directory, entry.name)
  const found: ChosenFile[][] = []
  for await (const child of childrenOf(entry as FileSystemDirectoryEntry)) {
    found.push(await filesIn(child, path, true))
  }
  return found.flat()
}

/** Browsers return the entries of a folder in batches, until one is empty. */
async function* childrenOf(folder: FileSystemDirectoryEntry): AsyncGenerator<FileSystemEntry> {
  const reader = folder.createReader()
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject)
    })
    if (batch.length === 0) return
    yield* batch
  }
}
