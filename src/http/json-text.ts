import type { Context, TypedResponse } from 'hono'
import type { JSONParsed } from 'hono/utils/types'
import type { HttpEnv } from './http-env.ts'
import { releaseBytes } from './json-bytes.ts'

/** JSON text of a value of this type, or its bytes. */
export type JsonText<Value> = (string | Uint8Array<ArrayBuffer>) & { readonly value?: Value }

/** What an answer allows a platform to do with it: `fixed` is sent as it is. */
type SentJson = 'compressible' | 'fixed'

/** Names the variable that says so. */
const sentKey = 'sentJson'

/** Answers with JSON that is written already, as `c.json` does with a value. Bytes of `jsonBytes` are used again. */
export function sendJson<Value, Status extends 200 | 201 = 200>(
  c: Context,
  text: JsonText<Value>,
  { status = 200 as Status, sent = 'compressible' }: { status?: Status; sent?: SentJson } = {},
) {
  c.set(sentKey, sent)
  if (typeof text !== 'string') (c as Context<HttpEnv>).var.whenSent?.(() => releaseBytes(text))
  return c.body(text, status, { 'content-type': 'application/json' }) as unknown as TypedResponse<
    JSONParsed<Value>,
    Status,
    'json'
  >
}

/** Answers with a value as `c.json` does, without a `Headers` object. */
export const answerJson = <Value>(c: Context, value: Value) => sendJson<Value>(c, JSON.stringify(value))

/** Returns how `sendJson` has answered, so that no header has to be read; undefined for other answers. */
export const sentJson = (c: Context): SentJson | undefined => c.get(sentKey) as SentJson | undefined
