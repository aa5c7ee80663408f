import type { ObjectStore, S3Options } from '../adapters/objects.ts'

/** The store over an S3 service, opened when it is used: the SDK costs more to load than a whole request. */
export function lazyObjects(options: S3Options): Required<ObjectStore> {
  let opened: Required<ObjectStore> | null = null
  const store = async () => {
    const { s3ObjectStore } = await import('../adapters/objects.ts')
    return (opened ??= s3ObjectStore(options))
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
