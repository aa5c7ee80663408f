import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'

const file = (name: string) => fileURLToPath(new URL(`certificates/${name}`, import.meta.url))

/** The certificate of the server, which a client has to trust. */
export const iamCertificate = file('localhost.crt')

export type AwsKey = { id: string; secret: string; region: string }

/**
 * Starts a PostgreSQL as RDS offers it to roles that sign in by IAM: it demands TLS, asks for a password and takes a token
 * that the key has signed for this host and user; then it leads to the database of `url`.
 */
export async function startIamPostgres(url: string, key: AwsKey) {
  const [cert, privateKey] = await Promise.all([readFile(iamCertificate), readFile(file('localhost.key'))])
  const database = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write('S')
      const secure = new TLSSocket(socket, { isServer: true, cert, key: privateKey })
      secure.on('error', () => undefined)
      void admit(secure, database, (token, user) => isSigned(token, { host, user }, key))
    })
  })
  await once(server.listen(0, 'localhost'), 'listening')
  const host = `localhost:${(server.address() as AddressInfo).port}`
  return {
    host,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function admit(client: TLSSocket, database: URL, isValid: (token: string, user: string) => boolean) {
  const [startup] = (await once(client, 'data')) as [Buffer]
  const user = startup.subarray(8).toString().split('\0')[1] ?? ''
  // AuthenticationCleartextPassword.
  client.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]))
  const [answer] = (await once(client, 'data')) as [Buffer]
  const token = answer.subarray(5, -1).toString()
  if (!isValid(token, user)) {
    const fields = `SFATAL\0C28000\0MPAM authentication failed for user "${user}"\0\0`
    const head = Buffer.from([0x45, 0, 0, 0, 0])
    head.writeInt32BE(4 + fields.length, 1)
    client.end(Buffer.concat([head, Buffer.from(fields)]))
    return
  }
  const server = connect(Number(database.port || 5432), database.hostname, () => {
    server.write(startup)
    client.pipe(server).pipe(client)
  })
  server.on('error', () => client.destroy())
  client.on('close', () => server.destroy())
}

/** Whether AWS would take a token. Source: the rules of Signature Version 4 for presigned requests. */
function isSigned(token: string, { host, user }: { host: string; user: string }, key: AwsKey): boolean {
  if (!URL.canParse(`https://${token}`)) return false
  const url = new URL(`https://${token}`)
  const query = url.searchParams
  const signature = query.get('X-Amz-Signature')
  query.delete('X-Amz-Signature')
  const encoded = [...query]
    .map((pair) => pair.map((text) => encodeURIComponent(text)).join('='))
    .toSorted()
    .join('&')
  const date = query.get('X-Amz-Date') ?? ''
  const day = date.slice(0, 8)
  const scope = `${day}/${key.region}/rds-db/aws4_request`
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const request = ['GET', '/', encoded, `host:${host}`, '', 'host', sha256('')].join('\n')
  const sign = (secret: string | Buffer, text: string) => createHmac('sha256', secret).update(text).digest()
  const signingKey = [day, key.region, 'rds-db', 'aws4_request'].reduce<string | Buffer>(
    sign,
    `AWS4${key.secret}`,
  )
  const expected = sign(signingKey, ['AWS4-HMAC-SHA256', date, scope, sha256(request)].join('\n'))
  return (
    url.host === host &&
    query.get('DBUser') === user &&
    query.get('Action') === 'connect' &&
    query.get('X-Amz-Credential') === `${key.id}/${scope}` &&
    signature === expected.toString('hex')
  )
}
