import type { Panel } from '../../panel.ts'
import type { ServerAccess } from '../servers/access.ts'
import { refuseDenied } from './denylist.ts'
import { relativeName, resolveMember, resolvePath } from './paths.ts'

/**
 * Resolves the entries of a folder that a request names, each once, to names relative to it. Refuses with 422 the
 * folder itself and paths outside it, with 403 what the egg protects.
 */
export async function resolveSelection(
  panel: Panel,
  server: ServerAccess['server'],
  input: { root?: string | null | undefined; files: string[] },
): Promise<{ root: string; names: string[] }> {
  const root = resolvePath('root', input.root ?? '/')
  const resolvedPaths = input.files.map((file, index) => resolveMember(`files.${index}`, root, file))
  const paths = [...new Set(resolvedPaths)]
  await refuseDenied(panel, server, paths)
  return { root, names: paths.map((path) => relativeName(root, path)) }
}
