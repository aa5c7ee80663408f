const longestAnswer = 256 * 1024

/**
 * The JSON by which a stranger answers with 200. Throws at any other status, redirects among them, and at
 * what is no JSON or longer than 256 KiB. `who` is how the failure calls him.
 */
export async function callJson(who: string, address: string, init: RequestInit): Promise<unknown> {
  const headers = new Headers(init.headers)
  headers.set('accept', 'application/json')
  headers.set('user-agent', 'Roost')
  const answer = await fetch(address, { ...init, headers, redirect: 'manual' })
  if (answer.status !== 200) {
    await answer.body?.cancel()
    throw new Error(`${who} answered ${answer.status}.`)
  }
  return JSON.parse(await boundedText(who, answer, longestAnswer))
}

/** What a stranger says, read no further than `longest` characters: throws when it goes on. */
export async function boundedText(who: string, answer: Response, longest: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.length > longest) throw new Error(`${who} gave an answer without end.`)
  }
  return text + decoder.decode()
}

/** An object's members, none of what is no object. */
export const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
