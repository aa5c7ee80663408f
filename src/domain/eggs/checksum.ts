import { createHash } from 'node:crypto'
import { eggMembers, variableMembers } from './members.ts'
import type { EggImport } from './parse.ts'

/**
 * Computes the checksum of what an import writes. An egg whose checksum is computed in another way than when it
 * was seeded counts as edited.
 */
export function eggChecksum(egg: EggImport['egg'], variables: EggImport['variables']): string {
  const sorted = variables.toSorted((a, b) => (a.envVariable < b.envVariable ? -1 : 1))
  // An import keeps the author of the egg that it replaces.
  const content = [{ ...eggMembers(egg), author: null }, sorted.map(variableMembers)]
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}
