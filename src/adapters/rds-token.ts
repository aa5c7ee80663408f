import { AwsV4Signer } from 'aws4fetch'

/** A role of a database at Amazon RDS or Aurora that signs in by IAM. */
export type RdsRole = { host: string; port: number; user: string }

/** The variables with which AWS gives a program its credentials and region. */
export type AwsEnv = Record<string, string | undefined>

/**
 * Signs a token that is the password of an RDS role for 15 minutes. The region is that of the host's name, or `AWS_REGION`.
 * Throws when `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` or the region is missing. Source: docs/lambda.md.
 */
export async function signRdsToken({ host, port, user }: RdsRole, aws: AwsEnv): Promise<string> {
  const region = /\.([a-z0-9-]+)\.rds\.amazonaws\.com/.exec(host)?.[1] ?? aws.AWS_REGION
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = aws
  if (!region || !accessKeyId || !secretAccessKey)
    throw new Error(
      'auth=iam in DATABASE_URL needs AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, which a function of Lambda has by itself.',
    )
  const url = new URL(`https://${host}:${port}/`)
  url.search = new URLSearchParams({ Action: 'connect', DBUser: user, 'X-Amz-Expires': '900' }).toString()
  const signer = new AwsV4Signer({
    url: url.href,
    accessKeyId,
    secretAccessKey,
    ...(aws.AWS_SESSION_TOKEN ? { sessionToken: aws.AWS_SESSION_TOKEN } : {}),
    service: 'rds-db',
    region,
    signQuery: true,
  })
  const signed = await signer.sign()
  return signed.url.href.slice('https://'.length)
}
