import * as z from 'zod'
import { type MoveInState, moveInStages } from '../../../domain/move-in/move-in.ts'
import { resource, Timestamp, timestampOrNull } from '../../../http/resource.ts'

const Report = () =>
  z.object({
    version: z.string().describe('The versions of the other panel that have its schema'),
    tables: z.array(
      z.object({
        table: z.string(),
        found: z.int().describe('Rows there'),
        movable: z.int().describe('Rows that can move'),
        written: z.int().nullable().describe('Rows that this move wrote; null of a check'),
      }),
    ),
    findings: z.array(
      z.object({
        table: z.string(),
        what: z.enum(['changed', 'left out', 'refused']),
        reason: z.string(),
        count: z.int(),
        ids: z.array(z.int()).describe('The first of the rows'),
      }),
    ),
    removed: z
      .record(z.string(), z.int())
      .describe('Rows that were deleted here since they are gone there, by table'),
    unknown_tables: z.array(z.string()).describe('Tables of plugins, which stay behind'),
    ignored: z.array(z.object({ column: z.string(), rows: z.int() })),
    notes: z.array(z.string()),
    seconds: z.number(),
  })

/** The move of another panel into this one. Its keys are never returned. */
export const MoveInResource = resource(
  'move_in',
  () =>
    z.object({
      stage: z.enum(moveInStages).nullable().describe('Null where there is no dump and nothing to tell'),
      can_start: z.boolean().describe('Whether the dump was checked and nothing forbids the move'),
      file: z.object({ name: z.string(), size: z.int() }).nullable(),
      kind: z.enum(['pterodactyl', 'pelican']).nullable(),
      timezone: z.string().nullable(),
      first_timezone: z
        .string()
        .nullable()
        .describe('The time zone in which schedules moved before; null where none did'),
      dump_timezone: z.string().nullable(),
      ignore_columns: z.array(z.string()),
      started_by: z.string().nullable().describe('The username of who uploaded the dump'),
      expires_at: Timestamp().nullable().describe('When the dump and the keys are deleted, at the latest'),
      is_cancelling: z.boolean().describe('Whether the move ends before its next rows'),
      progress: z
        .object({
          phase: z.string(),
          rows: z.int(),
          total: z.int(),
          rows_per_second: z.int(),
          seconds_left: z.int().nullable(),
        })
        .nullable(),
      report: Report().nullable(),
      differences: z
        .array(z.object({ table: z.string(), id: z.int(), columns: z.array(z.string()) }))
        .nullable()
        .describe('Rows that differ from those of the other panel; null until they were compared'),
      fault: z
        .object({
          error: z.string(),
          issues: z.array(z.object({ field: z.string(), problem: z.string() })),
        })
        .nullable()
        .describe('Why the last check or move ended'),
      other_machine: z
        .string()
        .nullable()
        .describe('The machine where the dump lies, when it is another one'),
      has_moved: z.boolean().describe('Whether rows moved in before'),
      max_bytes: z.int().describe('Bytes that a dump may have'),
      free_bytes: z.int().describe('Bytes that the disk has for it'),
    }),
  ({ report, progress, ...state }: MoveInState) => ({
    stage: state.stage,
    can_start: state.canStart,
    file: state.file,
    kind: state.kind,
    timezone: state.timezone,
    first_timezone: state.firstTimezone,
    dump_timezone: state.dumpTimezone,
    ignore_columns: state.ignoreColumns,
    started_by: state.startedBy,
    expires_at: timestampOrNull(state.expiresAt),
    is_cancelling: state.isCancelling,
    progress: progress && {
      phase: progress.phase,
      rows: progress.rows,
      total: progress.total,
      rows_per_second: progress.rowsPerSecond,
      seconds_left: progress.secondsLeft,
    },
    report: report && {
      version: report.version,
      tables: report.tables.map(({ written = null, ...counts }) => ({ ...counts, written })),
      findings: report.findings,
      removed: report.removed,
      unknown_tables: report.unknownTables,
      ignored: report.ignored,
      notes: report.notes,
      seconds: report.seconds,
    },
    differences: state.differences,
    fault: state.fault,
    other_machine: state.otherMachine,
    has_moved: state.hasMoved,
    max_bytes: state.maxBytes,
    free_bytes: state.freeBytes,
  }),
)
