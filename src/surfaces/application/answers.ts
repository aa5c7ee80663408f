import type { Context } from 'hono'
import { versionOf } from '../../domain/versions.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { jsonBytes } from '../../http/json-bytes.ts'
import { sendJson } from '../../http/json-text.ts'
import { publicUrl } from '../../http/public-url.ts'
import { nullResource, type Page, paginationOf } from '../../http/resource.ts'
import {
  type Includes,
  nestedIncludes,
  type Relation,
  type ResourceKind,
  resourceKinds,
} from './relations.ts'

type Row = Record<string, unknown> & { truncated?: string[] }

/** How rows of a kind become text with the included relations. */
type Writer = {
  name: string
  attributes: (row: never) => object
  /** Null below another resource. */
  meta: ((row: never) => object | null) | null
  relations: RelationWriter[]
}

type RelationWriter = {
  name: string
  /** The name as a key in JSON, with its colon. */
  key: string
  relation: Relation
  /** Null when the caller's key may not read the relation. */
  writer: Writer | null
  /** Texts of rows that several parents share. */
  texts: Map<object, string>
}

/**
 * Answers with a row and its included relations, and with its version in `ETag`; `meta` is added to the resource. Denied
 * relations are null resources.
 */
export function answerOne(
  c: Context<HttpEnv>,
  kind: ResourceKind,
  row: object,
  includes: Includes,
  { status = 200, meta }: { status?: 200 | 201; meta?: object | undefined } = {},
) {
  if ('updatedAt' in row && row.updatedAt instanceof Date)
    c.header('etag', `"${versionOf({ updatedAt: row.updatedAt })}"`)
  return sendJson(c, writeOne(topWriterOf(kind, includes), row as Row, meta), { status })
}

/** Answers with rows as a list without pages. */
export const answerList = (c: Context<HttpEnv>, kind: ResourceKind, rows: object[], includes: Includes) =>
  answerRows(c, topWriterOf(kind, includes), rows as Row[], '')

/** Answers with one page of rows. */
export function answerPage(c: Context<HttpEnv>, kind: ResourceKind, page: Page<object>, includes: Includes) {
  const meta = `,"meta":${JSON.stringify({ pagination: paginationOf(page, publicUrl(c)) })}`
  return answerRows(c, topWriterOf(kind, includes), page.rows as Row[], meta)
}

/** Bytes of a server with some relations. */
const expectedBytes = 5000

function answerRows(c: Context<HttpEnv>, writer: Writer, rows: Row[], meta: string) {
  const bytes = jsonBytes((rows.length + 1) * expectedBytes)
  bytes.text('{"object":"list","data":[')
  for (const [at, row] of rows.entries()) bytes.text((at > 0 ? ',' : '') + writeOne(writer, row))
  bytes.text(`]${meta}}`)
  return sendJson(c, bytes.finish())
}

const topWriterOf = (kind: ResourceKind, includes: Includes): Writer => ({
  ...writerOf(kind, includes),
  meta: resourceKinds[kind].meta ?? null,
})

function writerOf(kind: ResourceKind, includes: Includes, as?: string): Writer {
  const { resource, relations } = resourceKinds[kind]
  const topLevel = (paths: string[]) => paths.filter((path) => !path.includes('.'))
  const relationWriter = (name: string, isAllowed: boolean): RelationWriter[] => {
    const relation = relations[name]
    if (!relation) return []
    const writer = isAllowed ? writerOf(relation.to, nestedIncludes(includes, name), relation.as) : null
    return [{ name, key: `${JSON.stringify(name)}:`, relation, writer, texts: new Map() }]
  }
  return {
    name: JSON.stringify(as ?? resource.name),
    attributes: resource.attributes,
    meta: null,
    relations: [
      ...topLevel(includes.allowed).flatMap((name) => relationWriter(name, true)),
      ...topLevel(includes.denied).flatMap((name) => relationWriter(name, false)),
    ],
  }
}

const nullText = JSON.stringify(nullResource)

function writeOne({ name, attributes, meta, relations }: Writer, row: Row, added?: object): string {
  const text = JSON.stringify(attributes(row as never))
  const own = meta?.(row as never)
  const shown = own || added ? `,"meta":${JSON.stringify({ ...added, ...own })}` : ''
  if (relations.length === 0) return `{"object":${name},"attributes":${text}${shown}}`
  let related = ''
  for (const relation of relations)
    related += (related === '' ? '' : ',') + relation.key + writeRelation(relation, row)
  return `{"object":${name},"attributes":${text.slice(0, -1)},"relationships":{${related}}}${shown}}`
}

/** Joins by adding: V8 copies such a text once, when it is encoded, however deep lists are in lists. */
function writeList(writer: Writer, rows: Row[], isTruncated: boolean): string {
  let data = ''
  for (const row of rows) data += (data === '' ? '' : ',') + writeOne(writer, row)
  return `{"object":"list","data":[${data}]${isTruncated ? ',"meta":{"truncated":true}' : ''}}`
}

function writeRelation({ name, relation, writer, texts }: RelationWriter, row: Row): string {
  if (!writer) return nullText
  const related = relation.rows ? relation.rows(row as never) : row[name]
  if (relation.isMany) {
    const isTruncated = row.truncated?.includes(name) === true
    return writeList(writer, (related ?? []) as Row[], isTruncated)
  }
  if (!related) return nullText
  const text = texts.get(related) ?? writeOne(writer, related as Row)
  texts.set(related, text)
  return text
}
