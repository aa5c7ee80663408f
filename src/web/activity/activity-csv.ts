import { type ActivityEntry, actorOf } from '../api/activity.ts'
import { eventSentence } from './event-text.tsx'

const columns = ['timestamp', 'event', 'description', 'actor', 'ip', 'api', 'properties']

/** Spreadsheets take what begins like this for a formula. */
const formula = /^[=+\-@\t\r]/

function cell(value: string): string {
  const text = formula.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const rowOf = (entry: ActivityEntry): string[] => [
  entry.timestamp,
  entry.event,
  eventSentence(entry),
  actorOf(entry)?.username ?? '',
  entry.ip ?? '',
  String(entry.is_api),
  JSON.stringify(entry.properties),
]

/** The entries as a file for spreadsheets; none of its cells is a formula. Spec: RFC 4180. */
export const activityCsv = (entries: readonly ActivityEntry[]): string =>
  [columns, ...entries.map(rowOf)].map((row) => `${row.map(cell).join(',')}\r\n`).join('')
