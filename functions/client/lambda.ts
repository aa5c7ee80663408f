import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { client } from '../../src/surfaces/client.ts'
import { operations } from '../../src/surfaces/operations.ts'
import { pictures } from '../../src/surfaces/pictures.ts'

export const handler = lambda([client, pictures, operations], { objects: s3ObjectStore, mysqlHost })
