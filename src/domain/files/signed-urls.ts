import type { Panel } from '../../panel.ts'
import { createSignedUrl, signUserToken } from '../nodes/signed-urls.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { recordUnlessDenied } from './denylist.ts'
import { resolveEntry } from './paths.ts'

/**
 * Creates a URL at which a browser downloads the file from the node, once and within 15 minutes. The daemon checks
 * that the file exists. Records `server:file.download`. Refuses with 403 when the egg protects it.
 * Wings: GET /download/file.
 */
export async function createFileDownloadUrl(
  panel: Panel,
  target: ServerOnNode,
  file: string,
): Promise<string> {
  const path = resolveEntry('file', '/', file)
  const token = await signUserToken(panel, target, 'file-download', { file_path: path })
  await recordUnlessDenied(panel, target.server, 'server:file.download', path)
  return createSignedUrl(target, '/download/file', token)
}

/**
 * Creates a URL at which a browser uploads files to the node, once and within 15 minutes; the folder is a
 * parameter beside the token. The daemon checks the denylist and reports the upload. Wings: POST /upload/file.
 */
export async function createFileUploadUrl(panel: Panel, target: ServerOnNode): Promise<string> {
  return createSignedUrl(target, '/upload/file', await signUserToken(panel, target, 'file-upload', {}))
}
