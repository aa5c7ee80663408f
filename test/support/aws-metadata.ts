import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type RoleKeys = { id: string; secret: string; token: string }

/**
 * Answers as AWS does inside of its machines: the endpoint of a container, which wants the token of its environment, and
 * version 2 of the metadata of an instance, which wants a token that was asked for with `PUT`. `requests` are those it took.
 */
export async function startAwsMetadata({ id, secret, token }: RoleKeys) {
  const requests: string[] = []
  const containerToken = 'token-of-the-container'
  const instanceToken = 'token-of-the-instance'
  const keys = {
    Code: 'Success',
    Type: 'AWS-HMAC',
    LastUpdated: new Date().toISOString(),
    AccessKeyId: id,
    SecretAccessKey: secret,
    Token: token,
    Expiration: new Date(Date.now() + 6 * 3_600_000).toISOString(),
  }
  const roles = '/latest/meta-data/iam/security-credentials/'
  const server = createServer(({ method, url = '', headers }, response) => {
    const refuse = () => void response.writeHead(401).end()
    requests.push(`${method} ${url}`)
    if (url === '/container') {
      if (headers.authorization !== containerToken) return refuse()
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(keys))
    }
    if (url === '/latest/api/token') {
      if (method !== 'PUT' || headers['x-aws-ec2-metadata-token-ttl-seconds'] === undefined) return refuse()
      return void response.end(instanceToken)
    }
    if (headers['x-aws-ec2-metadata-token'] !== instanceToken) return refuse()
    if (url === roles) return void response.end('panel')
    if (url === `${roles}panel`) return void response.end(JSON.stringify(keys))
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    requests,
    container: {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/container`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: containerToken,
    },
    instance: { AWS_EC2_METADATA_SERVICE_ENDPOINT: origin },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
