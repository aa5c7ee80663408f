import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { worker } from '../../src/platform/workers.ts'
import { remote } from '../../src/surfaces/remote.ts'

export default worker([remote], { objects: s3ObjectStore })
