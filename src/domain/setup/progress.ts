import { eq, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { oneRow } from '../../db/data-column.ts'
import { allocations, eggs, locations, nodeHeartbeats, nodes, servers, settings } from '../../db/schema.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { boolean, integer, strictObject } from '../fields.ts'
import { invalidField } from '../validation.ts'

/** The row of the settings with the progress; no setting has its name. */
export const progressKey = 'setup.progress'

/** The steps of the set-up, in their order. */
export const setupSteps = [
  'administrator',
  'panel',
  'mail',
  'location',
  'node',
  'allocations',
  'game',
  'server',
] as const
export type SetupStep = (typeof setupSteps)[number]
export type StepState = 'open' | 'done' | 'skipped'

type StoredProgress = {
  steps: Partial<Record<SetupStep, StepState>>
  isDismissed: boolean
  /** The egg that was chosen for the first server. */
  eggId?: number | null | undefined
}

/** How far the set-up is. Null ids: there is none yet. */
export type SetupProgress = {
  /** False on panels that were not set up in the browser. */
  isStarted: boolean
  isDismissed: boolean
  steps: Record<SetupStep, StepState>
  nodeId: number | null
  eggId: number | null
  serverId: number | null
  /** Origin of the panel. */
  url: string
  /** Whether the panel has a mail service. */
  sendsMail: boolean
}

/** States of steps, the egg of the first server, and whether the checklist is put away. What the panel finds itself stays done. */
export const SetupChanges = () =>
  strictObject({
    steps: z.partialRecord(z.enum(setupSteps), z.enum(['open', 'done', 'skipped'])).nullish(),
    egg_id: integer(1, 2 ** 31 - 1).nullish(),
    is_dismissed: boolean().nullish(),
  })
type SetupChanges = z.output<ReturnType<typeof SetupChanges>>

/** Stores that the set-up was begun in the browser. */
export async function beginProgress(tx: Tx): Promise<void> {
  const value: StoredProgress = { steps: {}, isDismissed: false }
  await tx.db.insert(settings).values({ key: progressKey, value }).onConflictDoNothing()
}

/** Reads the progress of the set-up: what was stored, and what is found in the database. One statement. */
export async function readProgress(tx: Pick<Tx, 'db' | 'config'>): Promise<SetupProgress> {
  const found = single(
    await tx.db
      .select({
        stored: sql<string | null>`(select value::text from ${settings} where key = ${progressKey})`,
        location: sql<boolean>`exists (select 1 from ${locations})`,
        node: sql<boolean>`exists (select 1 from ${nodeHeartbeats} where last_up_at is not null)`,
        allocations: sql<boolean>`exists (select 1 from ${allocations})`,
        eggId: sql<number | null>`(select id from ${eggs} where id =
          (select (value ->> 'eggId')::int from ${settings} where key = ${progressKey}))`,
        nodeId: sql<number | null>`(select max(id) from ${nodes})`,
        serverId: sql<number | null>`(select max(id) from ${servers})`,
      })
      .from(oneRow),
  )
  const stored = found.stored === null ? null : (JSON.parse(found.stored) as StoredProgress)
  const isFound: Partial<Record<SetupStep, boolean>> = {
    administrator: true,
    location: found.location,
    node: found.node,
    allocations: found.allocations,
    server: found.serverId !== null,
  }
  const stateOf = (step: SetupStep): StepState => (isFound[step] ? 'done' : (stored?.steps[step] ?? 'open'))
  return {
    isStarted: stored !== null,
    isDismissed: stored?.isDismissed ?? false,
    steps: Object.fromEntries(setupSteps.map((step) => [step, stateOf(step)])) as Record<
      SetupStep,
      StepState
    >,
    nodeId: found.nodeId,
    eggId: found.eggId,
    serverId: found.serverId,
    url: tx.config.url,
    sendsMail: tx.config.sendsMail,
  }
}

/**
 * Changes the progress of the set-up and returns it. Refuses with 422 an egg that does not exist. Records
 * `admin:setup.update`.
 */
export async function changeProgress(panel: Panel, input: SetupChanges): Promise<SetupProgress> {
  return inTransaction(panel, async (tx) => {
    if (input.egg_id) await requireEgg(tx, input.egg_id)
    await beginProgress(tx)
    const [row] = await tx.db.select().from(settings).where(eq(settings.key, progressKey)).for('update')
    const before = row?.value as StoredProgress
    const value: StoredProgress = {
      steps: { ...before.steps, ...input.steps },
      isDismissed: input.is_dismissed ?? before.isDismissed,
      eggId: input.egg_id === undefined ? before.eggId : input.egg_id,
    }
    const changed = setupSteps.filter((step) => before.steps[step] !== value.steps[step])
    const isOther = value.isDismissed !== before.isDismissed || value.eggId !== before.eggId
    if (changed.length > 0 || isOther) {
      await tx.db.update(settings).set({ value, updatedAt: tx.now() }).where(eq(settings.key, progressKey))
      await recordEvent(tx, 'admin:setup.update', { properties: { changed } })
    }
    return readProgress(tx)
  })
}

async function requireEgg(tx: Tx, id: number): Promise<void> {
  const [found] = await tx.db.select({ id: eggs.id }).from(eggs).where(eq(eggs.id, id))
  if (!found) throw invalidField('egg_id', 'exists', 'The egg_id field does not exist.')
}
