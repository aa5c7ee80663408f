import type { Egress } from './egress.ts'
import { readBoundedText } from './fetch-json.ts'

/** Publishes text. */
export type PasteService = {
  /** Uploads text to the service at `url` and returns its link. Throws on a refusal, without an answer, or on an invalid one. */
  upload: (url: string, text: string) => Promise<string>
}

const maxResponseLength = 64 * 1024

/** Creates a client for the protocol of mclo.gs: `POST /1/log` takes a form with `content` and returns `{success, id, url}`. */
export function httpPasteService(send: Egress['fetch'], timeoutMs = 10_000): PasteService {
  return {
    upload: async (url, text) => {
      const response = await send(`${url.replace(/\/+$/, '')}/1/log`, {
        method: 'POST',
        headers: { accept: 'application/json' },
        body: new URLSearchParams({ content: text }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      if (!response.ok) {
        await response.body?.cancel()
        throw new Error(`The paste service answered ${response.status}.`)
      }
      return readLink(JSON.parse(await readBoundedText('The paste service', response, maxResponseLength)))
    },
  }
}

function readLink(response: unknown): string {
  const { success, url } = (response ?? {}) as { success?: unknown; url?: unknown }
  const link = success === true && typeof url === 'string' ? URL.parse(url) : null
  if (!link || !['http:', 'https:'].includes(link.protocol)) {
    throw new Error('The paste service returned an invalid answer.')
  }
  return link.href
}
