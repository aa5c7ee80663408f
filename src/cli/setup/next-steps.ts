import { commandOf } from '../../platform/command-names.ts'
import { surfaceNames } from '../bundles.ts'

/** The platforms on which the panel runs. */
export const targets = ['workers', 'lambda', 'node'] as const
export type Target = (typeof targets)[number]

/** Returns the shell commands that start the panel with the variables of the file. A demo has its own users and eggs. */
export function nextSteps(target: Target, file: string, hasDemo: boolean): string[] {
  const path = shellWord(file.includes('/') ? file : `./${file}`)
  const loadVariables = `set -a; . ${path}; set +a`
  const accountCommands = [
    commandOf('seed'),
    commandOf('panel', 'user:create --email you@example.com --username you --admin'),
  ]
  switch (target) {
    case 'workers':
      return [
        'npx wrangler login',
        `for surface in ${surfaceNames.join(' ')}; do npx wrangler secret bulk ${path} --env "$surface"; done`,
        loadVariables,
        'npm run deploy:workers',
        ...accountCommands,
      ]
    case 'lambda':
      return [loadVariables, 'npm run deploy:lambda', ...accountCommands]
    case 'node':
      return hasDemo
        ? [loadVariables, commandOf('start')]
        : [loadVariables, commandOf('migrate'), ...accountCommands, commandOf('start')]
  }
}

/** Quotes a text for a shell. */
const shellWord = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
