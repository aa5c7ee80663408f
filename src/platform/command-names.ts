import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from './repository.ts'

/** Returns how operators call a program of the panel here: an npm script, or a file of the bundle where it stands alone. */
export function commandOf(program: 'panel' | 'migrate' | 'seed' | 'start', args = ''): string {
  // An image says how it is called from outside.
  const outside = process.env.PANEL_COMMAND
  if (program === 'panel' && outside) return `${outside} ${args}`.trim()
  if (!existsSync(join(repositoryRoot, 'package.json')))
    return `node ${join(repositoryRoot, 'dist', 'server', `${program === 'start' ? 'main' : program}.mjs`)} ${args}`.trim()
  if (program === 'start') return 'npm start'
  return args === '' ? `npm run ${program}` : `npm run ${program} -- ${args}`
}
