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

/** Returns the power signals that the user may send themselves, and so put into tasks. */
export function useAllowedSignals(): PowerSignal[] {
  const { can } = useServer()
  return signals.filter(([, permission]) => can(permission)).map(([signal]) => signal)
}

/**
 * Returns the actions that the user may use in tasks: those they have permission for, and backups if the server may
 * have any.
 */
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

/** Returns the initial payload for an action; restart for power tasks, which is the usual one. */
export const defaultPayload = (action: Action, allowed: PowerSignal[]): string =>
  action === 'power' ? (allowed.find((signal) => signal === 'restart') ?? allowed[0] ?? '') : ''
