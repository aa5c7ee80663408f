import type { Context } from 'hono'
import type { HttpEnv } from '../../http/http-env.ts'
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

/** Answers with a row and its included relations; `meta` is added to the resource. Denied relations are null resources. */
export function answerOne(
  c: Context<HttpEnv>,
  kind: ResourceKind,
  row: object,
  includes: Includes,
  { status = 200, meta }: { status?: 200 | 201; meta?: object | undefined } = {},
) {
  const text = writeOne(writerOf(kind, includes), row as Row)
  return answer(c, meta ? `${text.slice(0, -1)},"meta":${JSON.stringify(meta)}}` : text, status)
}

/** Answers with rows as a list without pages. */
export const answerList = (c: Context<HttpEnv>, kind: ResourceKind, rows: object[], includes: Includes) =>
  answer(c, writeList(writerOf(kind, includes), rows as Row[]), 200)

/** Answers with one page of rows. */
export function answerPage(c: Context<HttpEnv>, kind: ResourceKind, page: Page<object>, includes: Includes) {
  const meta = { pagination: paginationOf(page, publicUrl(c)) }
  return answer(c, writeList(writerOf(kind, includes), page.rows as Row[], meta), 200)
}

const answer = (c: Context<HttpEnv>, text: string, status: 200 | 201) =>
  c.body(text, status, { 'Content-Type': 'application/json' })

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
    relations: [
      ...topLevel(includes.allowed).flatMap((name) => relationWriter(name, true)),
      ...topLevel(includes.denied).flatMap((name) => relationWriter(name, false)),
    ],
  }
}

const nullText = JSON.stringify(nullResource)

function writeOne({ name, attributes, relations }: Writer, row: Row): string {
  const text = JSON.stringify(attributes(row as never))
  if (relations.length === 0) return `{"object":${name},"attributes":${text}}`
  const related = relations.map((relation) => relation.key + writeRelation(relation, row)).join()
  return `{"object":${name},"attributes":${text.slice(0, -1)},"relationships":{${related}}}}`
}

function writeList(writer: Writer, rows: Row[], meta?: object): string {
  const data = rows.map((row) => writeOne(writer, row)).join()
  return `{"object":"list","data":[${data}]${meta ? `,"meta":${JSON.stringify(meta)}` : ''}}`
}

function writeRelation({ name, relation, writer, texts }: RelationWriter, row: Row): string {
  if (!writer) return nullText
  const related = relation.rows ? relation.rows(row as never) : row[name]
  if (relation.isMany) {
    const meta = row.truncated?.includes(name) ? { truncated: true } : undefined
    return writeList(writer, (related ?? []) as Row[], meta)
  }
  if (!related) return nullText
  const text = texts.get(related) ?? writeOne(writer, related as Row)
  texts.set(related, text)
  return text
}
