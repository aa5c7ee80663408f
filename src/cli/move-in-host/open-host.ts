import { randomUUID } from 'node:crypto'
import { hostname, tmpdir } from 'node:os'
import type { DumpUpload, MoveInCheck, MoveInStage, MoveInState } from '../../adapters/move-in.ts'
import { recordEvent } from '../../domain/activity/record.ts'
import {
  dumpIsElsewhere,
  moveIsAtOtherStage,
  moveIsRefused,
  moveIsTaken,
  uploadIsCancelled,
} from '../../domain/move-in/refusals.ts'
import { invalidField } from '../../domain/validation.ts'
import type { Panel } from '../../panel.ts'
import type { OpenMoveInHost } from '../../platform/move-in-host.ts'
import { reasonOf } from '../faults.ts'
import { parseAppKeys } from '../move-in/laravel.ts'
import { isZone } from '../move-in/source-zone.ts'
import { removeAbandonedFolders } from '../move-in/spool-folders.ts'
import { type DumpFolder, maxDumpBytes, openDumpFolder } from './dump-folder.ts'
import { beginRun, nameRun, recordEnd, type Run } from './run-move.ts'
import { changeMove, deleteKeys, readMove, storeSecrets, type StoredMove } from './stored-move.ts'

/** Milliseconds after which a dump and its keys are deleted. Spec: docs/moving-in.md#in-the-administrators-area. */
const maxAgeMs = 24 * 3_600_000
/** Milliseconds after which a process that was not there any more counts as ended. */
const maxSilenceMs = 120_000

const busyStages: MoveInStage[] = ['uploading', 'checking', 'moving', 'comparing']
const stagesWithDump: MoveInStage[] = ['uploaded', 'checked', 'failed']
const isBusy = ({ stage }: StoredMove) => busyStages.includes(stage)

/**
 * Moves another panel in from a dump that an administrator uploads. Its record is in the database, so that every process
 * tells the same; its dump is in the data directory, and the process that is asked to works on it.
 */
export const openMoveInHost: OpenMoveInHost = ({ panel: system, dataDirectory, addBackground }) => {
  const folder = openDumpFolder(dataDirectory)
  let running: Run | null = null
  const begin = (move: StoredMove, since: boolean | null) => {
    const run = beginRun({ panel: system, folder, move }, since)
    running = run
    addBackground(run.ended.finally(() => running === run && (running = null)))
  }
  return {
    moveIn: {
      read: (panel) => readState(panel, folder),
      receive: (panel, upload) => receive(panel, folder, upload),
      check: async (panel, options) => begin(await prepareCheck(panel, folder, options), null),
      start: async (panel, { since }) => begin(await prepareStart(panel, folder), since),
      discard: async (panel) => {
        const { run } = (await discard(panel, folder)) ?? {}
        if (run && running?.name === run) running.cancel('cancelled')
      },
    },
    tidy: ({ isStart }) => tidy(system, folder, isStart),
    close: async () => {
      const { name } = running ?? {}
      if (name === undefined) return
      running?.cancel('interrupted')
      await interrupt(system, folder, (move) => move.run === name)
    },
  }
}

async function readState(panel: Panel, folder: DumpFolder): Promise<MoveInState> {
  const { move, hasMoved, firstTimezone } = await readMove(panel)
  const isHere = move === null || move.expiresAt === null || (await folder.has(move.id))
  return {
    stage: move?.stage ?? null,
    canStart: move !== null && canStart(move),
    file: move?.file ?? null,
    kind: move?.kind ?? null,
    timezone: move?.timezone ?? null,
    firstTimezone,
    dumpTimezone: move?.dumpTimezone ?? null,
    ignoreColumns: move?.ignoreColumns ?? [],
    startedBy: move?.startedBy ?? null,
    expiresAt: move?.expiresAt ? new Date(move.expiresAt) : null,
    isCancelling: move?.isCancelling ?? false,
    progress: move?.progress ?? null,
    report: move?.report ?? null,
    differences: move?.differences ?? null,
    fault: move?.fault ?? null,
    otherMachine: isHere || move?.stage === 'uploading' ? null : move.machine,
    hasMoved,
    maxBytes: maxDumpBytes,
    freeBytes: folder.freeBytes(),
  }
}

const canStart = ({ stage, report }: StoredMove) =>
  (stage === 'checked' || stage === 'failed') &&
  report !== null &&
  !report.findings.some(({ what }) => what === 'refused')

/** Stores a dump. Refuses with 409 while there is another one. */
async function receive(panel: Panel, folder: DumpFolder, upload: DumpUpload): Promise<void> {
  const begun = await changeMove(panel, (move) => {
    if (move && (isBusy(move) || stagesWithDump.includes(move.stage))) throw moveIsTaken()
    return newMove(panel, upload)
  })
  const id = begun?.id ?? ''
  /** Changes the record while it is that of this upload; otherwise it was cancelled. */
  const note = async (changes: Partial<StoredMove>) => {
    const stored = await changeMove(panel, (move) => (move?.id === id ? { ...move, ...changes } : undefined))
    if (stored?.id !== id) throw uploadIsCancelled()
  }
  const file = (size: number) => ({ name: upload.name, size })
  try {
    const size = await folder.receive(id, upload, (bytes) =>
      note({ beatAt: timeAfter(panel, 0), file: file(bytes) }),
    )
    await note({ stage: 'uploaded', file: file(size), expiresAt: timeAfter(panel, maxAgeMs) })
  } catch (error) {
    await folder.forget(id)
    await changeMove(panel, (move) => (move?.id === id ? null : undefined))
    throw error
  }
}

const timeAfter = (panel: Panel, ms: number) => new Date(panel.now().getTime() + ms).toISOString()

const newMove = (panel: Panel, { name }: DumpUpload): StoredMove => ({
  id: randomUUID(),
  stage: 'uploading',
  machine: hostname(),
  file: { name, size: 0 },
  kind: null,
  timezone: null,
  dumpTimezone: null,
  ignoreColumns: [],
  startedBy: panel.actor.kind === 'user' ? panel.actor.user.username : '',
  run: null,
  isCancelling: false,
  beatAt: timeAfter(panel, 0),
  expiresAt: null,
  progress: null,
  report: null,
  differences: null,
  fault: null,
})

/** Finds the dump that waits for work. Refuses with 409 where there is none, and on another machine. */
async function requireDump(move: StoredMove | null, folder: DumpFolder): Promise<StoredMove> {
  if (!move || !stagesWithDump.includes(move.stage)) throw moveIsAtOtherStage()
  if (!(await folder.has(move.id))) throw dumpIsElsewhere(move.machine)
  return move
}

async function prepareCheck(panel: Panel, folder: DumpFolder, options: MoveInCheck): Promise<StoredMove> {
  const { keys, env, ...source } = options
  requireReadable(options)
  const changed = await changeMove(panel, async (move, tx) => {
    const found = await requireDump(move, folder)
    await folder.requireSpaceForRows(found.id)
    await storeSecrets(tx, { keys, env })
    return { ...found, ...source, ...newRun(panel, 'checking'), report: null }
  })
  return changed as StoredMove
}

/** Refuses with 422 keys and a time zone that are none. */
function requireReadable({ keys, dumpTimezone }: MoveInCheck): void {
  keys.forEach((key, at) => {
    try {
      parseAppKeys([key])
    } catch (error) {
      throw invalidField(at === 0 ? 'app_key' : `previous_keys.${at - 1}`, 'size', reasonOf(error))
    }
  })
  if (dumpTimezone !== null && !isZone(dumpTimezone))
    throw invalidField(
      'dump_timezone',
      'timezone',
      'The dump_timezone is no time zone, as +02:00 or Europe/Berlin.',
    )
}

const newRun = (panel: Panel, stage: MoveInStage) => ({
  stage,
  run: nameRun(),
  isCancelling: false,
  beatAt: timeAfter(panel, 0),
  progress: null,
  differences: null,
  fault: null,
})

/** Records `admin:move-in.start`. */
async function prepareStart(panel: Panel, folder: DumpFolder): Promise<StoredMove> {
  const changed = await changeMove(panel, async (move, tx) => {
    const found = await requireDump(move, folder)
    if (!canStart(found)) throw moveIsRefused()
    const properties = { panel: found.kind, file: found.file.name }
    await recordEvent(tx, 'admin:move-in.start', { properties })
    return { ...found, ...newRun(panel, 'moving') }
  })
  return changed as StoredMove
}

/** Deletes the record, the dump and the keys; of a move that writes it asks the process that does to end it. Returns what was there. */
async function discard(panel: Panel, folder: DumpFolder): Promise<StoredMove | null> {
  let before: StoredMove | null = null
  await changeMove(panel, async (move, tx) => {
    before = move
    if (!move) return undefined
    if (move.stage === 'moving') return { ...move, isCancelling: true }
    await deleteKeys(tx)
    if (move.stage !== 'comparing') return null
    await recordEnd(tx, move, 'done')
    return { ...move, stage: 'done', run: null, progress: null, expiresAt: null }
  })
  const found = before as StoredMove | null
  if (found && found.stage !== 'moving') await folder.forget(found.id)
  return found
}

/** Notes that a move was interrupted, where `isMeant`, and deletes its dump and keys. */
async function interrupt(
  panel: Panel,
  folder: DumpFolder,
  isMeant: (move: StoredMove) => boolean | Promise<boolean>,
): Promise<void> {
  const stored = await changeMove(panel, async (move, tx) => {
    if (!move || !isBusy(move) || !(await isMeant(move))) return undefined
    await deleteKeys(tx)
    if (move.stage === 'uploading') return null
    if (move.stage !== 'checking') await recordEnd(tx, move, 'interrupted')
    const wrote = move.stage !== 'checking'
    return {
      ...move,
      stage: 'interrupted',
      run: null,
      isCancelling: false,
      expiresAt: null,
      report: wrote ? move.report : null,
    }
  })
  if (stored?.stage === 'interrupted') await folder.forget(stored.id)
}

async function tidy(panel: Panel, folder: DumpFolder, isStart: boolean): Promise<void> {
  const { move: found } = await readMove(panel)
  const now = panel.now().getTime()
  const isSilent = ({ beatAt }: StoredMove) => now - Date.parse(beatAt) > maxSilenceMs
  // A process that starts first knows that those before it have ended.
  if (found && isBusy(found))
    await interrupt(panel, folder, async (move) => isSilent(move) || (isStart && (await folder.has(move.id))))
  const isOver = ({ expiresAt }: StoredMove) => expiresAt !== null && Date.parse(expiresAt) < now
  if (found && !isBusy(found) && isOver(found))
    await changeMove(panel, async (move, tx) => {
      if (!move || isBusy(move) || !isOver(move)) return undefined
      await deleteKeys(tx)
      return { ...move, stage: 'expired', expiresAt: null }
    })
  const { move } = await readMove(panel)
  const hasDump = move !== null && (isBusy(move) || stagesWithDump.includes(move.stage))
  await folder.keepOnly(hasDump ? move.id : null, isStart)
  // The command line reads its rows there, also within this panel.
  if (isStart) await removeAbandonedFolders(tmpdir())
}
