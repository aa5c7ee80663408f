import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { remote } from '../../src/surfaces/remote.ts'

export const handler = lambda([remote], { objects: s3ObjectStore })
