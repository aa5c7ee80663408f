import { adminSend } from '../../api/admin.ts'
import { asRequestError } from '../../api/error.ts'
import { send } from '../../api/request.ts'
import type { Egg, EggDifference, Item } from '../resources.ts'

/** An egg document, and where it came from as the user knows it. */
export type EggDocument = { name: string; text: string }
/** What came of comparing a document. */
export type Comparison = EggDocument & { difference?: EggDifference; error?: string }
/** What came of importing it. */
export type Outcome = { name: string; imported?: Imported; error?: string }
type Imported = { attributes: Egg; meta: { state: 'new' | 'updated'; warnings: string[] } }

/** Lets the panel fetch a document from a URL. */
export const fetchDocument = async (url: string): Promise<EggDocument> => ({
  name: url,
  text: JSON.stringify(await adminSend('POST', '/eggs/fetch', { url })),
})

/** Sends a document, JSON or YAML, as the panel reads both. */
async function sendDocument<Answer>(path: string, text: string, query: URLSearchParams): Promise<Answer> {
  const type = text.trimStart().startsWith('{') ? 'application/json' : 'application/yaml'
  const answer = await send(`/api/application${path}${query.size > 0 ? `?${query}` : ''}`, {
    method: 'POST',
    body: text,
    headers: { 'content-type': type },
  })
  return answer.json() as Promise<Answer>
}

/** Returns what a document would change; `egg` is the one that it is for, if that is known. */
export async function compareDocument(
  nest: number,
  document: EggDocument,
  egg?: number,
): Promise<Comparison> {
  const query = new URLSearchParams(egg === undefined ? {} : { egg: String(egg) })
  const path = `/nests/${nest}/eggs/import/preview`
  const { attributes } = await sendDocument<Item<EggDifference>>(path, document.text, query)
  return { ...document, difference: attributes }
}

/** Imports a document as it was compared: over the same egg, which must not have changed since. */
export async function importDocument(nest: number, { name, text, difference }: Comparison): Promise<Outcome> {
  const query = new URLSearchParams(
    difference?.egg ? { egg: String(difference.egg.id), checksum: difference.egg.checksum } : {},
  )
  return { name, imported: await sendDocument(`/nests/${nest}/eggs/import`, text, query) }
}

/** Runs a step for one of several documents, and returns its failure in place of throwing it. */
export const orError = <Result>(
  name: string,
  otherwise: string,
  step: Promise<Result>,
): Promise<Result | { name: string; text: string; error: string }> =>
  step.catch((error: unknown) => ({
    name,
    text: '',
    error: asRequestError(error)?.detailsExcept([]).join(' ') || otherwise,
  }))
