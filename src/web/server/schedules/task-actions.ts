import type { PowerSignal } from '../../api/servers.ts'
import type { Task } from '../../api/schedules.ts'
import { useServer } from '../server-context.tsx'

export type Action = Task['action']

const signals = [
  ['start', 'control.start'],
  ['restart', 'control.restart'],
  ['stop', 'control.stop'],
  ['kill', 'control.stop'],
] as const satisfies [PowerSignal, string][]

/** Signals that the reader may send himself: a schedule sends no others for him. */
export function useAllowedSignals(): PowerSignal[] {
  const { can } = useServer()
  return signals.filter(([, permission]) => can(permission)).map(([signal]) => signal)
}

/** What the reader may have a task do: what he may do himself, and backups where the server may have any. */
export function useAllowedActions(): Action[] {
  const { server, can } = useServer()
  const mayPower = useAllowedSignals().length > 0
  const mayBackUp = can('backup.create') && server.feature_limits.backups > 0
  return [
    ...(can('control.console') ? (['command'] as const) : []),
    ...(mayPower ? (['power'] as const) : []),
    ...(mayBackUp ? (['backup'] as const) : []),
  ]
}

/** With what a task of another action begins: most power tasks restart. */
export const firstPayload = (action: Action, allowed: PowerSignal[]): string =>
  action === 'power' ? (allowed.find((signal) => signal === 'restart') ?? allowed[0] ?? '') : ''
