import { type ActivityEntry, actorOf } from '../api/activity.ts'
import { eventSentence } from './event-text.tsx'

const columns = ['timestamp', 'event', 'description', 'actor', 'ip', 'api', 'properties']

/** Spreadsheets treat a cell that begins like this as a formula. */
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

/** Writes entries as CSV by RFC 4180, with cells that no spreadsheet takes for a formula. */
export const activityCsv = (entries: readonly ActivityEntry[]): string =>
  [columns, ...entries.map(rowOf)].map((row) => `${row.map(cell).join(',')}\r\n`).join('')
