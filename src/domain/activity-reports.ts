import * as z from 'zod'
import { canonicalAddress } from '../addresses.ts'
import type { Activity } from '../db/tables/activity.ts'

/** What a daemon says happened on one of its servers, checked and ready to be stored. */
export type ActivityReport = {
  server: string
  user: string | null
  event: string
  source: Activity['source']
  ip: string
  /** ISO 8601, UTC, milliseconds. */
  at: string
  properties: Record<string, unknown>
}

const loopback = '127.0.0.1'
const deepest = 32
const longestText = 191
const mostMetadataBytes = 8 * 1024
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])
/** The last instant that Postgres and RFC 3339 both write with four digits of a year. */
const latest = Date.UTC(9999, 11, 31)

/** A key that stands for nothing when it is empty. */
const orNothing = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullish())

/** One entry of a daemon's batch. Spec: Remote API, activity. */
export const ReportedEntry = () =>
  z.object({
    user: orNothing(z.guid()),
    server: z.guid(),
    event: z.string().startsWith('server:').max(longestText),
    metadata: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]).nullable(),
    ip: orNothing(z.string()),
    timestamp: z.string(),
  })
let reportedEntry: ReturnType<typeof ReportedEntry> | null = null

/**
 * The entry as it is stored, or null when it cannot be: of the wrong shape, with text no database takes, or
 * nested too deeply. Without an address it is the loopback's; without a readable time it is `now`'s and keeps
 * what was written as `original_timestamp`. Metadata above 8 KiB is replaced by a marker.
 */
export function readReport(entry: unknown, now: Date): ActivityReport | null {
  if (!isStorable(entry, 0)) return null
  reportedEntry ??= ReportedEntry()
  const { success, data } = reportedEntry.safeParse(entry)
  if (!success) return null
  const ip = data.ip ? addressOf(data.ip) : loopback
  if (ip === null) return null
  const at = instantOf(data.timestamp)
  return {
    server: data.server,
    user: data.user ?? null,
    event: data.event,
    source: data.event.startsWith('server:sftp.') ? 'sftp' : 'system',
    ip,
    at: (at ?? now).toISOString(),
    properties: {
      ...bounded(data.metadata),
      ...(at ? {} : { original_timestamp: data.timestamp.slice(0, longestText).toWellFormed() }),
    },
  }
}

/** Whether Postgres can store it, and nobody has to walk deeper than it is wise. */
function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (depth >= deepest) return false
  if (Array.isArray(value)) return value.every((member) => isStorable(member, depth + 1))
  return Object.entries(value).every(
    ([key, member]) => !forbiddenKeys.has(key) && isStorable(key, depth) && isStorable(member, depth + 1),
  )
}

/** The canonical address without a port, or null when it is none. */
function addressOf(text: string): string | null {
  const [, bare = text] = /^(\[[^\]]+\]|[\d.]+):\d{1,5}$/.exec(text.trim()) ?? []
  return canonicalAddress(bare)
}

/** Daemons write nanoseconds; digits beyond milliseconds are cut. */
function instantOf(text: string): Date | null {
  const [, seconds, fraction = '', zone] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,30}))?(Z|[+-]\d\d:\d\d)$/.exec(text.trim().toUpperCase()) ??
    []
  const time = Date.parse(`${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${zone}`)
  return time >= 0 && time < latest ? new Date(time) : null
}

function bounded(metadata: Record<string, unknown> | unknown[] | null): Record<string, unknown> {
  const bytes = new TextEncoder().encode(JSON.stringify(metadata)).byteLength
  return bytes > mostMetadataBytes
    ? { truncated: true, bytes }
    : Object.fromEntries(Object.entries(metadata ?? {}))
}
