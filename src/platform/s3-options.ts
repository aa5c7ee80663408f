import type { BucketOptions } from '../adapters/objects.ts'
import type { Env } from './env.ts'

type Preset = {
  /** The region when none is set; null where one must be set. */
  region: string | null
  /** Null is AWS itself; undefined where an endpoint must be set. */
  endpoint: (region: string) => string | null | undefined
  pathStyle: boolean
  /** Example of an endpoint that must be set. */
  example?: string
}

/** Defaults of services with the S3 protocol. */
export const s3Presets = {
  aws: { region: 'us-east-1', endpoint: () => null, pathStyle: false },
  r2: {
    region: 'auto',
    endpoint: () => undefined,
    pathStyle: true,
    example: 'https://<account id>.r2.cloudflarestorage.com',
  },
  b2: { region: null, endpoint: (region) => `https://s3.${region}.backblazeb2.com`, pathStyle: true },
  minio: { region: 'us-east-1', endpoint: () => 'http://127.0.0.1:9000', pathStyle: true },
} as const satisfies Record<string, Preset>

const customPreset: Preset = { region: 'auto', endpoint: () => null, pathStyle: false }

type S3Env = Pick<
  Env,
  | 'S3_PRESET'
  | 'S3_BUCKET'
  | 'S3_REGION'
  | 'S3_ENDPOINT'
  | 'S3_ACCESS_KEY_ID'
  | 'S3_SECRET_ACCESS_KEY'
  | 'S3_PATH_STYLE'
>

const presetOf = (env: S3Env): Preset => (env.S3_PRESET ? s3Presets[env.S3_PRESET] : customPreset)

/** Whether the keys of the bucket are those that AWS has for this program. */
export const usesAwsRole = (env: {
  S3_PRESET?: unknown
  S3_ACCESS_KEY_ID?: unknown
  S3_SECRET_ACCESS_KEY?: unknown
}): boolean =>
  env.S3_PRESET === 'aws' && env.S3_ACCESS_KEY_ID === undefined && env.S3_SECRET_ACCESS_KEY === undefined

/** Returns the options of the object store; variables override the preset. Null without a bucket. */
export function s3OptionsOf(env: S3Env): BucketOptions | null {
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = env
  const keys = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : null
  if (!bucket || !(keys || usesAwsRole(env))) return null
  const preset = presetOf(env)
  const region = env.S3_REGION ?? preset.region ?? ''
  return {
    bucket,
    ...keys,
    region,
    endpoint: env.S3_ENDPOINT ?? preset.endpoint(region) ?? null,
    pathStyle: env.S3_PATH_STYLE ?? preset.pathStyle,
  }
}

/** Returns the variables that the preset requires and that are not set, as one fault each. */
export function presetFaults(env: S3Env): string[] {
  const { region, endpoint, example } = presetOf(env)
  const name = `S3_PRESET=${env.S3_PRESET}`
  return [
    ...(env.S3_REGION === undefined && region === null ? [`S3_REGION: is required with ${name}`] : []),
    ...(env.S3_ENDPOINT === undefined && endpoint('') === undefined
      ? [`S3_ENDPOINT: is required with ${name}, as in ${example}`]
      : []),
  ]
}
