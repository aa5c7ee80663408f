/**
 * Sends files to an address of a node as one form; the status of the answer, 0 when there was none. Rejects when it
 * is aborted. By XMLHttpRequest, since `fetch` does not tell how much has left.
 */
export function sendForm(
  url: URL,
  files: readonly File[],
  signal: AbortSignal,
  onProgress: (sent: number) => void,
): Promise<number> {
  const form = new FormData()
  for (const file of files) form.append('files', file, file.name)
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest()
    const abort = () => {
      call.abort()
      reject(signal.reason as Error)
    }
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort)
    call.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded))
    call.addEventListener('loadend', () => {
      signal.removeEventListener('abort', abort)
      resolve(call.status)
    })
    call.open('POST', url)
    call.send(form)
  })
}
