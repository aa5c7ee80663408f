import { rm } from 'node:fs/promises'
import { keepObject, receive, type ObjectFiles, type Received } from './object-files.ts'
import { notImplemented } from './s3-error.ts'
import { keepPart, requireUpload } from './uploads.ts'

/** Keeps the body as the object of this key. */
export async function putObject(
  files: ObjectFiles,
  key: string,
  request: Request,
  sha256: string | null,
): Promise<Response> {
  const type = request.headers.get('content-type') ?? 'application/octet-stream'
  const etag = await withBody(files, request, sha256, async (received) => {
    return (await keepObject(files, key, type, received)).etag
  })
  return new Response(null, { headers: { etag } })
}

/** Keeps the body as a part of an open upload. */
export async function putPart(
  files: ObjectFiles,
  { key, id, number }: { key: string; id: string; number: number },
  request: Request,
  sha256: string | null,
): Promise<Response> {
  await requireUpload(files, key, id)
  const etag = await withBody(files, request, sha256, (received) =>
    keepPart(files, key, id, number, received),
  )
  return new Response(null, { headers: { etag } })
}

/** Nothing is left of a body that could not be kept. */
async function withBody(
  files: ObjectFiles,
  request: Request,
  sha256: string | null,
  keep: (received: Received) => Promise<string>,
): Promise<string> {
  const { headers } = request
  for (const name of ['x-amz-copy-source', 'if-match', 'if-none-match']) {
    if (headers.has(name)) throw notImplemented(`the header ${name}`)
  }
  if (headers.get('content-encoding')?.includes('aws-chunked')) throw notImplemented('bodies in chunks')
  const announced = headers.get('content-length')
  const length = announced === null ? null : Number(announced)
  const received = await receive(files, request.body ?? noBytes(), { length, sha256 })
  try {
    return await keep(received)
  } finally {
    await rm(received.place, { force: true })
  }
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}
