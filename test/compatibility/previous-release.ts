import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * The code of a release on the schema of this one, as both run while a deployment is under way and after a rollback:
 * its own suites of the surfaces, over PostgreSQL, with the migrations of today. Takes a tag or commit; without one the
 * newest tag `v*`, and where there is none there is nothing to do.
 */
const [wanted] = process.argv.slice(2)
const release = wanted ?? newestRelease()
if (release === null) console.log('There is no release before this one.')
else process.exitCode = runSuitesOf(release)

function newestRelease(): string | null {
  const { status, stdout } = spawnSync('git', ['describe', '--tags', '--abbrev=0', '--match', 'v*'], {
    encoding: 'utf8',
  })
  return status === 0 ? stdout.trim() : null
}

function runSuitesOf(commit: string): number {
  const folder = mkdtempSync(join(tmpdir(), 'roost-release-'))
  const release = join(folder, 'code')
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', release, commit], { stdio: 'inherit' })
  try {
    installIn(release)
    takeMigrations(release)
    // What the build makes: the suites show pages.
    const assets = join('src', 'surfaces', 'browser', 'web-assets.json')
    cpSync(assets, join(release, assets))
    cpSync('dist', join(release, 'dist'), { recursive: true })
    const suites = ['application', 'client', 'remote', 'jobs', 'browser'].map((name) => `test/${name}`)
    const words = ['run', '--config', 'test/vitest.config.ts', '--project', 'postgres*', ...suites]
    const { status } = spawnSync(resolve('node_modules/.bin/vitest'), words, {
      cwd: release,
      stdio: 'inherit',
    })
    return status ?? 1
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', release])
    rmSync(folder, { recursive: true })
  }
}

/** Installs the packages of the release's lock file. */
function installIn(release: string): void {
  const lockOf = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8')
  if (lockOf('.') === lockOf(release)) symlinkSync(resolve('node_modules'), join(release, 'node_modules'))
  else
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: release,
      stdio: 'inherit',
    })
}

/** Replaces the migrations of the release by the current ones. */
function takeMigrations(release: string): void {
  const target = join(release, 'drizzle')
  for (const name of readdirSync(target)) {
    if (name.endsWith('.sql') || name === 'meta') rmSync(join(target, name), { recursive: true })
  }
  for (const name of readdirSync('drizzle')) {
    if (name.endsWith('.sql') || name === 'meta')
      cpSync(join('drizzle', name), join(target, name), { recursive: true })
  }
}
