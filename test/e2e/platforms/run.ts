import { spawnSync } from 'node:child_process'

const platforms = ['node', 'workers', 'lambda']
const requested = process.argv.slice(2)
const unknown = requested.filter((name) => !platforms.includes(name))

if (unknown.length > 0) {
  console.error(`There is no platform ${unknown.join(', ')}. Usage: npm run e2e [-- ${platforms.join('|')}]`)
  process.exitCode = 1
} else {
  const files = (requested.length > 0 ? requested : platforms).map(
    (name) => `test/e2e/platforms/${name}.test.ts`,
  )
  const words = ['run', '--config', 'test/vitest.config.ts', '--project', 'e2e', ...files]
  const vitest = ['node_modules/vitest/vitest.mjs', ...words]
  process.exitCode = spawnSync(process.execPath, vitest, { stdio: 'inherit' }).status ?? 1
}
