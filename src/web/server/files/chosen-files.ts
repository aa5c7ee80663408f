import type { Chosen } from './upload-queue.ts'
import { joinPath } from './paths.ts'

/** Files from a file field; those of a folder keep their places below it. */
export const chosenFrom = (files: Iterable<File>, directory: string): Chosen[] =>
  [...files].map((file) => {
    const folders = file.webkitRelativePath.split('/').slice(0, -1)
    return {
      file,
      directory: joinPath(directory, folders.join('/')),
      isNewFolder: folders.length > 0,
    }
  })

/** Files that were dropped, also those in folders, which keep their places. Must be called while the event lasts. */
export async function droppedFiles(items: DataTransferItemList, directory: string): Promise<Chosen[]> {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  const found = await Promise.all(entries.map((entry) => filesIn(entry, directory, false)))
  return found.flat()
}

async function filesIn(entry: FileSystemEntry, directory: string, isNewFolder: boolean): Promise<Chosen[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => {
      ;(entry as FileSystemFileEntry).file(resolve, reject)
    })
    return [{ file, directory, isNewFolder }]
  }
  const below = joinPath(directory, entry.name)
  const found: Chosen[][] = []
  for await (const child of childrenOf(entry as FileSystemDirectoryEntry)) {
    found.push(await filesIn(child, below, true))
  }
  return found.flat()
}

/** Browsers hand a folder out in parts, until one is empty. */
async function* childrenOf(folder: FileSystemDirectoryEntry): AsyncGenerator<FileSystemEntry> {
  const reader = folder.createReader()
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject)
    })
    if (part.length === 0) return
    yield* part
  }
}
