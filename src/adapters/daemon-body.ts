import { DaemonError } from './daemon-error.ts'
import { splitJsonArray } from './json-array.ts'

/** Bytes of the largest JSON that is read of a daemon. */
export const maxJsonBytes = 8 * 1024 * 1024

/**
 * Yields the chunks of a response's body. Throws a `DaemonError` that is too large once there are more than
 * `maxBytes`, and one without an answer after the timeout of the call. Cancels the rest when the caller stops
 * reading.
 */
export async function* readChunks(
  response: Response,
  maxBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  if (!response.body) return
  const reader = response.body.getReader()
  let size = 0
  let isFinished = false
  try {
    for (;;) {
      const chunk = await reader.read().catch((cause: unknown) => {
        isFinished = true
        throw interrupted(response, cause)
      })
      if (chunk.done) {
        isFinished = true
        return
      }
      size += chunk.value.byteLength
      if (size > maxBytes) throw tooLarge(response)
      yield chunk.value
    }
  } finally {
    if (!isFinished) await reader.cancel().catch(() => undefined)
  }
}

/** Reads a body of at most `maxBytes`. Throws as `readChunks` does. */
export async function readBytes(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  for await (const chunk of readChunks(response, maxBytes)) chunks.push(chunk)
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** Reads a body of at most `maxBytes` as text. Throws as `readChunks` does. */
export const readText = async (response: Response, maxBytes: number): Promise<string> =>
  new TextDecoder().decode(await readBytes(response, maxBytes))

/** Reads a body of at most 8 MiB as JSON. Throws as `readChunks` does, and when it is no JSON. */
export async function readJson<T>(response: Response): Promise<T> {
  const text = await readText(response, maxJsonBytes)
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw invalidJson(response, cause)
  }
}

/**
 * Yields the elements of a body that is a JSON array, in batches as they arrive, so that a large one is never in
 * memory as a whole. Throws as `readJson` does.
 */
export async function* readJsonArray(response: Response): AsyncGenerator<unknown[], void> {
  try {
    yield* splitJsonArray(readChunks(response, maxJsonBytes))
  } catch (error) {
    throw error instanceof SyntaxError ? invalidJson(response, error) : error
  }
}

export const requestIdOf = (response: Response): string | null => response.headers.get('x-request-id')

const invalidJson = (response: Response, cause: unknown) =>
  new DaemonError(response.status, 'The node returned invalid JSON.', {
    requestId: requestIdOf(response),
    cause,
  })

const tooLarge = (response: Response) =>
  new DaemonError(response.status, 'The answer of the node is too large.', {
    requestId: requestIdOf(response),
    isTooLarge: true,
  })

function interrupted(response: Response, cause: unknown): DaemonError {
  const hasTimedOut = (cause as { name?: unknown } | null)?.name === 'TimeoutError'
  return hasTimedOut
    ? new DaemonError(null, 'The node did not answer.', { cause })
    : new DaemonError(response.status, 'The node stopped while it was answering.', {
        requestId: requestIdOf(response),
        cause,
      })
}
