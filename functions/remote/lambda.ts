import { lambda } from '../../src/platform/lambda.ts'
import { remote } from '../../src/surfaces/remote.ts'
import { lazyObjectStore } from '../../src/platform/lazy-object-store.ts'

export const handler = lambda([remote], { objects: lazyObjectStore })
