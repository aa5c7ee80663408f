import * as z from 'zod'
import type { PullRequest } from '../../adapters/daemon-files.ts'
import type { Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { boolean } from '../fields.ts'
import { invalidField } from '../validation.ts'
import { isOutOfPatience, refuseFileFailure } from './daemon-failures.ts'
import { refuseDenied } from './denylist.ts'
import { filesOf, type Target } from './listing.ts'
import { busily, exclusively } from './lock.ts'
import { resolveEntry, resolvePath, shownDirectory, splitPath } from './paths.ts'
import { publicAddress } from './public-address.ts'

/** Seconds for which a download that is waited for counts as going on, at most. */
const longestPull = 600

/** Spec: Client API, files: pull. */
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
 * The daemon fetches a file from elsewhere: when this returns it has begun, with `foreground` it is done,
 * unless it took longer than the longest wait. Records `server:file.pull`.
 *
 * Refuses with 422 addresses that are not out in the internet, with 403 the trash and what the egg protects;
 * not what a header of the answer may name. Rule IN-8. Wings: POST …/files/pull.
 */
export async function pullFile(panel: Panel, target: Target, input: Input): Promise<void> {
  const { server } = target
  const url = publicAddress(input.url)
  if (!url) throw invalidField('url', 'url', 'The url field must be a public http or https address.')
  const { request, path } = requestOf(url, input)
  await refuseDenied(panel, server, [path])
  const pull = () => filesOf(panel, target).pull(request, panel.config.longestWait)
  await (
    input.foreground ? busily(panel, server, longestPull, pull) : exclusively(panel, server, pull)
  ).catch((error: unknown) => {
    if (!input.foreground || !isOutOfPatience(error)) refuseFileFailure(error)
  })
  const properties = { directory: shownDirectory(request.directory), url: input.url }
  await record(panel, 'server:file.pull', { serverId: server.id, properties })
}

/** What the daemon is told, and where the file will be as far as that can be known. */
function requestOf(url: URL, input: Input): { request: PullRequest; path: string } {
  const directory = resolvePath('directory', input.directory ?? '/')
  const options = {
    ...(input.use_header === null || input.use_header === undefined ? {} : { useHeader: input.use_header }),
    ...(input.foreground === null || input.foreground === undefined ? {} : { foreground: input.foreground }),
  }
  if (!input.filename) {
    // Judged as a name, though the daemon finds it by itself.
    const path = resolvePath('url', directory, lastSegment(url))
    return { request: { url: url.href, directory, ...options }, path }
  }
  const path = resolveEntry('filename', directory, input.filename)
  const place = splitPath(path)
  return { request: { url: url.href, directory: place.directory, fileName: place.name, ...options }, path }
}

function lastSegment({ pathname }: URL): string {
  const segment = pathname.slice(pathname.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(segment).split('/').at(-1) ?? ''
  } catch {
    return segment
  }
}
