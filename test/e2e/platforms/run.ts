import { spawnSync } from 'node:child_process'

const platforms = ['node', 'workers', 'lambda']
const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !platforms.includes(name))

if (unknown.length > 0) {
  console.error(`There is no platform ${unknown.join(', ')}. Usage: npm run e2e [-- ${platforms.join('|')}]`)
  process.exitCode = 1
} else {
  const files = (asked.length > 0 ? asked : platforms).map((name) => `test/e2e/platforms/${name}.test.ts`)
  const words = ['run', '--config', 'test/vitest.config.ts', '--project', 'pglite', ...files]
  const vitest = ['node_modules/vitest/vitest.mjs', ...words]
  process.exitCode = spawnSync(process.execPath, vitest, { stdio: 'inherit' }).status ?? 1
}
