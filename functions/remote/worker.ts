import { lazyObjectStore } from '../../src/platform/lazy-object-store.ts'
import { worker } from '../../src/platform/workers.ts'
import { remote } from '../../src/surfaces/remote.ts'

export default worker([remote], { objects: lazyObjectStore })
