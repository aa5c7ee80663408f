import * as z from 'zod'
import type { Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { invalidField } from '../validation.ts'
import { isJsonObject, type JsonObject } from './document.ts'
import { EggFormatError, eggIssue, refuseEggFaults } from './format-error.ts'
import { parseEgg } from './parse.ts'
import { parseEggYaml } from './yaml.ts'

/** Spec: postApplicationEggsFetch. */
export const EggFetchInput = () => z.object({ url: z.string().trim().min(1, 'required').max(2048, 'max') })

/**
 * Fetches an egg document, JSON or YAML, from an https URL. A document without an update URL gets this one, unless it
 * has a query, which may be a secret. Refuses with 422 a URL that is not public or gives no egg, with every fault
 * of the document. Records `admin:egg.fetch`. Spec: docs/eggs.md#import-from-a-url.
 */
export async function fetchEgg(panel: Panel, input: { url: string }): Promise<JsonObject> {
  const url = URL.parse(input.url)
  if (!url)
    throw invalidField('url', 'url', 'The url field must be an https URL.', { reason: 'https_url_required' })
  const fetched = await panel.publicFetch(url)
  if ('refusal' in fetched)
    throw invalidField('url', 'active_url', fetched.refusal.message, fetched.refusal.why)
  const document = await refuseEggFaults(async () => {
    const parsed = await parseText(fetched.text)
    await parseEgg(parsed)
    return parsed as JsonObject
  })
  await recordEvent(panel, 'admin:egg.fetch', { properties: { url: withoutQuery(url) } })
  return url.search === '' ? withUpdateUrl(document, url.href) : document
}

async function parseText(text: string): Promise<unknown> {
  const content = text.replace(/^\uFEFF/, '')
  if (!content.trimStart().startsWith('{')) return parseEggYaml(content)
  try {
    return JSON.parse(content)
  } catch {
    throw new EggFormatError([eggIssue('', 'egg_not_json')])
  }
}

const withoutQuery = ({ origin, pathname }: URL) => origin + pathname

function withUpdateUrl(document: JsonObject, url: string): JsonObject {
  const meta = isJsonObject(document.meta) ? document.meta : {}
  return meta.update_url ? document : { ...document, meta: { ...meta, update_url: url } }
}
