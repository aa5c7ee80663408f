import { AwsV4Signer } from 'aws4fetch'
import type { AwsCredentials } from './aws-credentials.ts'

/** A role of a database at Amazon RDS or Aurora that signs in by IAM. */
export type RdsRole = { host: string; port: number; user: string }

/** The variables with which AWS gives a program its credentials and region. */
export type AwsEnv = Record<string, string | undefined>

/**
 * Signs a token that is the password of an RDS role for 15 minutes. The region is that of the host's name, or `AWS_REGION`.
 * Without `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` it is signed by what the SDK of AWS finds. Throws when there is
 * neither, or no region. Source: docs/lambda.md.
 */
export async function signRdsToken({ host, port, user }: RdsRole, aws: AwsEnv): Promise<string> {
  const region = /\.([a-z0-9-]+)\.rds\.amazonaws\.com/.exec(host)?.[1] ?? aws.AWS_REGION
  if (!region) throw new Error(`${needed}: there is no region.`)
  const { accessKeyId, secretAccessKey, sessionToken } = configuredKeys(aws) ?? (await foundKeys())
  const url = new URL(`https://${host}:${port}/`)
  url.search = new URLSearchParams({ Action: 'connect', DBUser: user, 'X-Amz-Expires': '900' }).toString()
  const signer = new AwsV4Signer({
    url: url.href,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken ? { sessionToken } : {}),
    service: 'rds-db',
    region,
    signQuery: true,
  })
  const signed = await signer.sign()
  return signed.url.href.slice('https://'.length)
}

const needed =
  'auth=iam in DATABASE_URL needs AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, which a function of Lambda has by itself, or a role of this machine'

function configuredKeys(aws: AwsEnv): AwsCredentials | null {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = aws
  return accessKeyId && secretAccessKey
    ? { accessKeyId, secretAccessKey, sessionToken: aws.AWS_SESSION_TOKEN }
    : null
}

async function foundKeys(): Promise<AwsCredentials> {
  try {
    const { findAwsCredentials } = await import('./aws-credentials.ts')
    return await findAwsCredentials()
  } catch (error) {
    throw new Error(`${needed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
