import type { Env } from './env.ts'

/** Returns how many processes answer requests; `auto` is as many as processors, and one with the embedded database. */
export function processCount({ PROCESSES, DATABASE_URL }: Pick<Env, 'PROCESSES' | 'DATABASE_URL'>): number {
  if (PROCESSES !== 'auto') return PROCESSES
  return DATABASE_URL === undefined ? 1 : navigator.hardwareConcurrency
}
