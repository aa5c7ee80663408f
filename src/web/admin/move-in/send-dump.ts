import { readRequestError, RequestError } from '../../api/error.ts'
import { csrfToken, inOwnLanguage } from '../../api/request.ts'

/**
 * Uploads a dump as the body of a request. Throws a `RequestError` when the panel refuses or does not answer, and the reason
 * of the signal when that is aborted. Uses XMLHttpRequest, since `fetch` reports no upload progress.
 */
export function sendDump(file: File, signal: AbortSignal, onProgress: (sent: number) => void): Promise<void> {
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
      if (call.status >= 200 && call.status < 300) resolve()
      else void refusalOf(call).then(reject)
    })
    call.open(
      'POST',
      `/api/application/move-in/dump?${new URLSearchParams({ name: file.name.slice(0, 255) })}`,
    )
    call.setRequestHeader('accept', 'application/json')
    call.setRequestHeader('content-type', 'application/octet-stream')
    call.setRequestHeader('x-xsrf-token', csrfToken())
    call.send(file)
  })
}

/** Reads why the panel refused; without an answer as of a panel that cannot be reached. */
async function refusalOf({ status, responseText }: XMLHttpRequest): Promise<RequestError> {
  if (status === 0) return new RequestError(0, [], null, null)
  return readRequestError(new Response(responseText, { status }), inOwnLanguage)
}
