/**
 * Uploads files to a node as one form. Returns the status, 0 without an answer, and rejects when it is aborted.
 * Uses XMLHttpRequest, since `fetch` reports no upload progress.
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
