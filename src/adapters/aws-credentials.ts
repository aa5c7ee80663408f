import { defaultProvider } from '@aws-sdk/credential-provider-node'

export type AwsCredentials = {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

let provider: (() => Promise<AwsCredentials>) | null = null

/**
 * Returns the credentials that AWS has for this program, where the SDK looks for them: the environment, the shared files and
 * SSO, a web identity, and the role of a container or an instance. They are asked for again shortly before they expire.
 */
export const findAwsCredentials = (): Promise<AwsCredentials> => (provider ??= defaultProvider())()
