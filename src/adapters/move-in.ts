/** What another panel is. */
export type MoveInKind = 'pterodactyl' | 'pelican'

/**
 * Where a move is: its dump comes in, lies there, is checked, was checked; its rows are written and then compared; it is
 * over, failed, or was cancelled; the process ended meanwhile, or its time was over.
 */
export type MoveInStage =
  | 'uploading'
  | 'uploaded'
  | 'checking'
  | 'checked'
  | 'moving'
  | 'comparing'
  | 'done'
  | 'failed'
  | 'cancelled'
  | 'interrupted'
  | 'expired'

/** How far the writing is. Rows are those of the other panel. */
export type MoveInProgress = {
  phase: string
  rows: number
  total: number
  rowsPerSecond: number
  /** Null until rows were read. */
  secondsLeft: number | null
}

/** Sentences about rows of a table, with the ids of the first of them. */
export type MoveInFinding = {
  table: string
  what: 'changed' | 'left out' | 'refused'
  reason: string
  count: number
  ids: number[]
}

/** What can move, or moved, and what not. */
export type MoveInReport = {
  version: string
  tables: { table: string; found: number; movable: number; written?: number | undefined }[]
  findings: MoveInFinding[]
  /** Rows that were deleted here since they are gone there, by table. */
  removed: Record<string, number>
  unknownTables: string[]
  ignored: { column: string; rows: number }[]
  notes: string[]
  seconds: number
}

/** Why a check or a move ended without a report. */
export type MoveInFault = { error: string; issues: { field: string; problem: string }[] }

/** Rows that differ from those of the other panel, with the names of the columns. */
export type MoveInDifference = { table: string; id: number; columns: string[] }

/** What is told of the move; of its keys nothing. */
export type MoveInState = {
  stage: MoveInStage | null
  /** Whether the dump was checked, and nothing forbids the move. */
  canStart: boolean
  file: { name: string; size: number } | null
  kind: MoveInKind | null
  timezone: string | null
  /** The zone in which schedules moved before; null where none did. */
  firstTimezone: string | null
  dumpTimezone: string | null
  ignoreColumns: string[]
  startedBy: string | null
  /** When the dump and the keys are deleted, at the latest; null where there are none. */
  expiresAt: Date | null
  /** Whether the process that writes was asked to end. */
  isCancelling: boolean
  /** Null while it is not known. */
  progress: MoveInProgress | null
  report: MoveInReport | null
  /** Null until the rows were compared. */
  differences: MoveInDifference[] | null
  fault: MoveInFault | null
  /** The machine where the dump lies, when it is another one. */
  otherMachine: string | null
  /** Whether rows moved in before, so that the next move can carry over what changed there. */
  hasMoved: boolean
  maxBytes: number
  freeBytes: number
}

/** The dump as it comes. */
export type DumpUpload = { name: string; size: number | null; chunks: AsyncIterable<Uint8Array> }

/** What a check is made with. */
export type MoveInCheck = {
  kind: MoveInKind
  /** Values of APP_KEY, the current one first. */
  keys: string[]
  /** What its `.env` says by name of settings, addresses and ids; null where it is not known. */
  env: Record<string, string> | null
  /** Null where nothing says it. */
  timezone: string | null
  /** Whether it replaces that of the first move. */
  correctTimezone: boolean
  dumpTimezone: string | null
  ignoreColumns: string[]
}

/** Moves another panel in, of which there is a dump. One move at a time; each call refuses what its stage does not allow. */
export type MoveIn<Caller> = {
  read: (panel: Caller) => Promise<MoveInState>
  /** Stores the dump; nothing of it stays when it does not come whole. */
  receive: (panel: Caller, upload: DumpUpload) => Promise<void>
  /** Begins to check, which goes on after the call. */
  check: (panel: Caller, options: MoveInCheck) => Promise<void>
  /** Begins to write, which goes on after the call. */
  start: (panel: Caller, options: { since: boolean }) => Promise<void>
  /** Cancels what runs, and deletes the dump, the keys and what is told of them. */
  discard: (panel: Caller) => Promise<void>
}
