import type { Context, TypedResponse } from 'hono'
import type { JSONParsed } from 'hono/utils/types'

/** JSON text of a value of this type. */
export type JsonText<Value> = string & { readonly value?: Value }

/** Answers with JSON that is written already, as `c.json` does with a value. */
export const sendJson = <Value>(c: Context, text: JsonText<Value>) =>
  c.body(text, 200, { 'content-type': 'application/json' }) as unknown as TypedResponse<
    JSONParsed<Value>,
    200,
    'json'
  >
