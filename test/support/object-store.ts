import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AwsV4Signer } from 'aws4fetch'
import { buildApp } from 'fauxqs'
import type { S3Options } from '../../src/adapters/objects.ts'

/** An S3 server; `requests` are the method and path of all requests, oldest first. */
export type TestStore = { options: S3Options; requests: string[]; close: () => Promise<void> }

const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret-of-the-tests' }
const region = 'eu-central-1'

/** Builds the options of an S3 service on this port. */
const optionsAt = (port: number): S3Options => ({
  bucket: 'archives',
  region,
  ...credentials,
  endpoint: `http://127.0.0.1:${port}`,
  pathStyle: true,
})

/** The part of fauxqs' server that is used here. */
type Incoming = { method: string; url: string; headers: IncomingMessage['headers']; raw: IncomingMessage }
type Outgoing = { status: (code: number) => { send: (text: string) => PromiseLike<unknown> } }
type Answered = { statusCode: number }

/**
 * Opens a fauxqs server with an empty bucket. It checks the signatures of presigned URLs only, and lists open uploads,
 * which fauxqs does not support, two on a page.
 */
export async function openTestStore(): Promise<TestStore> {
  const requests: string[] = []
  const open = new Map<string, OpenUpload>()
  const app = buildApp({ logger: false, defaultRegion: region })
  app.addHook('onSend', async (request: Incoming, reply: Answered, payload: unknown) => {
    if (reply.statusCode < 300) trackUpload(open, request, String(payload))
    return payload
  })
  app.addHook('onRequest', async (request: Incoming, reply: Outgoing) => {
    requests.push(`${request.method} ${request.url}`)
    const { pathname, searchParams } = new URL(request.url, 'http://store')
    const isListing =
      request.method === 'GET' && /^\/archives\/?$/.test(pathname) && searchParams.has('uploads')
    if (isListing) {
      const uploads = [...open.values()].toSorted((one, other) => (one.key < other.key ? -1 : 1))
      return void (await reply.status(200).send(listOf(uploads, searchParams.get('key-marker') ?? '')))
    }
    if (request.headers.authorization?.includes(`Credential=${credentials.accessKeyId}/`)) return
    if (!(await isSigned(request.raw))) await reply.status(403).send('SignatureDoesNotMatch')
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const options = optionsAt((app.server.address() as AddressInfo).port)
  const headers = { authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/` }
  await fetch(`${options.endpoint}/${options.bucket}`, { method: 'PUT', headers })
  requests.length = 0
  return { options, requests, close: () => app.close() }
}

type OpenUpload = { key: string; uploadId: string; startedAt: string }

/** Updates the list of open uploads after a request. */
function trackUpload(open: Map<string, OpenUpload>, { method, url }: Incoming, answer: string): void {
  const { pathname, searchParams } = new URL(url, 'http://store')
  const key = pathname.slice('/archives/'.length)
  if (method === 'POST' && searchParams.has('uploads')) {
    const uploadId = /<UploadId>([^<]+)</.exec(answer)?.[1] ?? ''
    open.set(uploadId, { key, uploadId, startedAt: new Date().toISOString() })
  } else if ((method === 'POST' || method === 'DELETE') && searchParams.has('uploadId')) {
    open.delete(searchParams.get('uploadId') ?? '')
  }
}

function listOf(uploads: OpenUpload[], marker: string): string {
  const rest = uploads.filter(({ key }) => key > marker)
  const page = rest.slice(0, 2)
  const entries = page.map(
    ({ key, uploadId, startedAt }) =>
      `<Upload><Key>${key}</Key><UploadId>${uploadId}</UploadId><Initiated>${startedAt}</Initiated></Upload>`,
  )
  const isTruncated = rest.length > page.length
  const next = isTruncated ? `<NextKeyMarker>${page.at(-1)?.key}</NextKeyMarker>` : ''
  return `<?xml version="1.0" encoding="UTF-8"?><ListMultipartUploadsResult><Bucket>archives</Bucket>
    ${next}<IsTruncated>${isTruncated}</IsTruncated>${entries.join('')}</ListMultipartUploadsResult>`
}

/** Opens a store that answers every request with `listener`. */
export async function openStubStore(listener: RequestListener): Promise<TestStore> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    options: optionsAt((server.address() as AddressInfo).port),
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Checks whether a URL was signed for this method, path and time. */
async function isSigned(request: IncomingMessage): Promise<boolean> {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
  const { searchParams: query } = url
  const datetime = query.get('X-Amz-Date') ?? ''
  const given = query.get('X-Amz-Signature')
  for (const name of ['Signature', 'Algorithm', 'Credential', 'SignedHeaders', 'Date']) {
    query.delete(`X-Amz-${name}`)
  }
  const signer = new AwsV4Signer({
    ...credentials,
    region,
    service: 's3',
    method: request.method ?? 'GET',
    url: url.toString(),
    signQuery: true,
    datetime,
  })
  const signed = await signer.sign()
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(datetime) ?? []
  const from = Date.parse(
    `${date.replace(/(....)(..)(..)/, '$1-$2-$3')}T${time.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`,
  )
  const isFresh = Date.now() <= from + Number(query.get('X-Amz-Expires')) * 1000
  return isFresh && given !== null && signed.url.searchParams.get('X-Amz-Signature') === given
}
