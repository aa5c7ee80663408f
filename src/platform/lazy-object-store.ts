import type { BucketOptions, ObjectStore } from '../adapters/objects.ts'

/** Returns an S3 object store whose SDK is loaded with its first use: loading it takes longer than a request. */
export function lazyObjectStore(options: BucketOptions): Required<ObjectStore> {
  let loaded: Required<ObjectStore> | null = null
  const store = async () => {
    const { s3ObjectStore } = await import('../adapters/objects.ts')
    return (loaded ??= s3ObjectStore(options))
  }
  const uploads = async () => (await store()).multipart
  return {
    put: async (...input) => (await store()).put(...input),
    get: async (...input) => (await store()).get(...input),
    signedUrl: async (...input) => (await store()).signedUrl(...input),
    remove: async (...input) => (await store()).remove(...input),
    ping: async () => (await store()).ping(),
    multipart: {
      create: async (...input) => (await uploads()).create(...input),
      signPart: async (...input) => (await uploads()).signPart(...input),
      complete: async (...input) => (await uploads()).complete(...input),
      abort: async (...input) => (await uploads()).abort(...input),
      head: async (...input) => (await uploads()).head(...input),
      list: async (...input) => (await uploads()).list(...input),
    },
  }
}
