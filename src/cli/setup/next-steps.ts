import { surfaces } from '../bundles.ts'

/** Where the panel is to run. */
export const targets = ['workers', 'lambda', 'node'] as const
export type Target = (typeof targets)[number]

/** The commands that bring the panel up once its variables stand in the file; shell, one a line. A demo has people and eggs of its own. */
export function nextSteps(target: Target, file: string, hasDemo: boolean): string[] {
  const path = shellWord(file.includes('/') ? file : `./${file}`)
  const load = `set -a; . ${path}; set +a`
  const people = [
    'npm run seed',
    'npm run panel -- user:create --email you@example.com --username you --admin',
  ]
  switch (target) {
    case 'workers':
      return [
        'npx wrangler login',
        `for surface in ${surfaces.join(' ')}; do npx wrangler secret bulk ${path} --env "$surface"; done`,
        load,
        'npm run deploy:workers',
        ...people,
      ]
    case 'lambda':
      return [load, 'npm run deploy:lambda', ...people]
    case 'node':
      return hasDemo ? [load, 'npm start'] : [load, 'npm run migrate', ...people, 'npm start']
  }
}

/** The text as one word of a shell. */
const shellWord = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
