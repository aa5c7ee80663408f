import type { Panel } from '../../panel.ts'
import type { ReachedServer } from '../credentials.ts'
import { refuseDenied } from './denylist.ts'
import { nameIn, resolveMember, resolvePath } from './paths.ts'

/**
 * The things in one folder that a request names, each once, by their names from there on. Refuses with 422 the
 * folder itself and what is not in it, with 403 what the egg protects.
 */
export async function selectMembers(
  panel: Panel,
  server: ReachedServer['server'],
  input: { root?: string | null | undefined; files: string[] },
): Promise<{ root: string; names: string[] }> {
  const root = resolvePath('root', input.root ?? '/')
  const members = input.files.map((file, index) => resolveMember(`files.${index}`, root, file))
  const paths = [...new Set(members)]
  await refuseDenied(panel, server, paths)
  return { root, names: paths.map((path) => nameIn(root, path)) }
}
