import * as z from 'zod'
import { hasTimedOut } from '../../adapters/daemon-error.ts'
import type { PullRequest } from '../../adapters/daemon-files.ts'
import type { Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { boolean } from '../fields.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { invalidField } from '../validation.ts'
import { toFileApiError } from './daemon-failures.ts'
import { refuseDenied } from './denylist.ts'
import { getDaemonFiles } from './listing.ts'
import { withBusyMark, withFileLock } from './lock.ts'
import { resolveEntry, resolvePath, displayDirectory, splitPath } from './paths.ts'
import { parsePublicUrl } from './public-url.ts'

/** Seconds after which the mark of a download in the foreground expires. */
const maxPullSeconds = 600

/** Spec: postClientServersByServerFilesPull. */
export const PullInput = () =>
  z.object({
    url: z.string().min(1, 'required').max(4096, 'max'),
    directory: z.string().nullish(),
    filename: z.string().nullish(),
    use_header: boolean().nullish(),
    foreground: boolean().nullish(),
  })

type Input = z.output<ReturnType<typeof PullInput>>

/**
 * Lets the daemon download a file from a URL. Returns when the download has started, with `foreground` when it is
 * done or the timeout has passed. Records `server:file.pull`.
 *
 * Refuses with 422 URLs that are not public (IN-8), with 403 the trash and what the egg protects, but not a name
 * that the header of the response gives. Wings: POST …/files/pull.
 */
export async function pullFile(panel: Panel, target: ServerOnNode, input: Input): Promise<void> {
  const { server } = target
  const url = parsePublicUrl(input.url)
  if (!url)
    throw invalidField('url', 'url', 'The url field must be a public http or https URL.', {
      reason: 'public_url_required',
    })
  const { request, path } = buildPullRequest(url, input)
  await refuseDenied(panel, server, [path])
  const pull = () => getDaemonFiles(panel, target).pull(request, panel.config.maxWaitMs)
  await (
    input.foreground ? withBusyMark(panel, server, maxPullSeconds, pull) : withFileLock(panel, server, pull)
  ).catch((error: unknown) => {
    if (!input.foreground || !hasTimedOut(error)) throw toFileApiError(error)
  })
  const properties = { directory: displayDirectory(request.directory), url: input.url }
  await recordEvent(panel, 'server:file.pull', { serverId: server.id, properties })
}

/** Builds the request for the daemon, and the path of the file as far as it is known before the download. */
function buildPullRequest(url: URL, input: Input): { request: PullRequest; path: string } {
  const directory = resolvePath('directory', input.directory ?? '/')
  const options = {
    ...(input.use_header === null || input.use_header === undefined ? {} : { useHeader: input.use_header }),
    ...(input.foreground === null || input.foreground === undefined ? {} : { foreground: input.foreground }),
  }
  if (!input.filename) {
    // Checked as a name, although the daemon derives it from the URL itself.
    const path = resolvePath('url', directory, lastSegment(url))
    return { request: { url: url.href, directory, ...options }, path }
  }
  const path = resolveEntry('filename', directory, input.filename)
  const pathParts = splitPath(path)
  return {
    request: { url: url.href, directory: pathParts.directory, fileName: pathParts.name, ...options },
    path,
  }
}

function lastSegment({ pathname }: URL): string {
  const segment = pathname.slice(pathname.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(segment).split('/').at(-1) ?? ''
  } catch {
    return segment
  }
}
