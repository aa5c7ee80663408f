import { describe, expect, it } from 'vitest'
import { EnvironmentError, readEnv } from '../../src/platform/env.ts'
import { s3OptionsOf } from '../../src/platform/s3-options.ts'

const credentials = { S3_BUCKET: 'archives', S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' }
const optionsOf = (variables: Record<string, string>) =>
  s3OptionsOf(readEnv({ ...credentials, ...variables }))

/** The message of the refusal. */
function faultsOf(variables: Record<string, string>): string {
  try {
    readEnv({ ...credentials, ...variables })
    return ''
  } catch (error) {
    expect(error).toBeInstanceOf(EnvironmentError)
    return (error as Error).message
  }
}

describe('the object store', () => {
  it.each([
    [{}, { endpoint: null, region: 'auto', pathStyle: false }],
    [{ S3_PRESET: 'aws' }, { endpoint: null, region: 'us-east-1', pathStyle: false }],
    [
      { S3_PRESET: 'aws', S3_REGION: 'eu-west-1' },
      { endpoint: null, region: 'eu-west-1', pathStyle: false },
    ],
    [
      { S3_PRESET: 'r2', S3_ENDPOINT: 'https://abc.r2.cloudflarestorage.com' },
      { endpoint: 'https://abc.r2.cloudflarestorage.com', region: 'auto', pathStyle: true },
    ],
    [
      { S3_PRESET: 'b2', S3_REGION: 'us-west-004' },
      { endpoint: 'https://s3.us-west-004.backblazeb2.com', region: 'us-west-004', pathStyle: true },
    ],
    [{ S3_PRESET: 'minio' }, { endpoint: 'http://127.0.0.1:9000', region: 'us-east-1', pathStyle: true }],
    [
      {
        S3_PRESET: 'minio',
        S3_ENDPOINT: 'https://minio.example.test',
        S3_REGION: 'home',
        S3_PATH_STYLE: 'false',
      },
      { endpoint: 'https://minio.example.test', region: 'home', pathStyle: false },
    ],
  ])('with %j is found at %j', (variables: Record<string, string>, expected) => {
    const keys = { bucket: 'archives', accessKeyId: 'id', secretAccessKey: 'secret' }
    expect(optionsOf(variables)).toEqual({ ...keys, ...expected })
  })

  it('is none without a bucket', () => {
    expect(s3OptionsOf(readEnv({}))).toBeNull()
  })

  it.each([
    [{ S3_PRESET: 'r2' }, 'S3_ENDPOINT: is required with S3_PRESET=r2, as in https://'],
    [{ S3_PRESET: 'b2' }, 'S3_REGION: is required with S3_PRESET=b2'],
    [{ S3_PRESET: 'tape' }, 'S3_PRESET'],
  ])('is refused with %j, which names what is missing', (variables: Record<string, string>, says) => {
    expect(faultsOf(variables)).toContain(says)
  })
})
