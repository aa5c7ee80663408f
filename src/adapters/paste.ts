import { boundedText } from './json-call.ts'

/** Publishes text under a link. */
export type PasteService = {
  /** The link to the text, by the service at `url`. Throws when it refuses, cannot be reached, or makes no sense. */
  upload: (url: string, text: string) => Promise<string>
}

const longestAnswer = 64 * 1024

/** Services with the protocol of mclo.gs: `POST /1/log` takes a form with `content` and gives `{success, id, url}`. */
export function httpPastes(timeout = 10_000): PasteService {
  return {
    upload: async (url, text) => {
      const answer = await fetch(`${url.replace(/\/+$/, '')}/1/log`, {
        method: 'POST',
        redirect: 'manual',
        headers: { accept: 'application/json' },
        body: new URLSearchParams({ content: text }),
        signal: AbortSignal.timeout(timeout),
      })
      if (!answer.ok) {
        await answer.body?.cancel()
        throw new Error(`The paste service answered ${answer.status}.`)
      }
      return linkIn(JSON.parse(await boundedText('The paste service', answer, longestAnswer)))
    },
  }
}

function linkIn(answer: unknown): string {
  const { success, url } = (answer ?? {}) as { success?: unknown; url?: unknown }
  const link = success === true && typeof url === 'string' ? URL.parse(url) : null
  if (!link || !['http:', 'https:'].includes(link.protocol)) {
    throw new Error('The paste service gave an answer that cannot be read.')
  }
  return link.href
}
