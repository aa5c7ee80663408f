// What npm runs after it has installed the packages: builds the panel, unless `--omit=dev` has left out what builds it.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../platform/repository.ts'
import { writeDefaultAssets } from '../../web/default-assets.ts'

if (existsSync(join(repositoryRoot, 'node_modules', 'vite'))) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: repositoryRoot, stdio: 'inherit' })
  process.exitCode = status ?? 1
} else {
  // The panel runs from its sources then, without pages.
  writeDefaultAssets()
  console.log(
    'Nothing was built, since the development dependencies are missing. Build elsewhere, and copy dist/ here.',
  )
}
