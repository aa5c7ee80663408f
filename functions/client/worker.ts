import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { worker } from '../../src/platform/workers.ts'
import { client } from '../../src/surfaces/client.ts'
import { operations } from '../../src/surfaces/operations.ts'
import { pictures } from '../../src/surfaces/pictures.ts'

export default worker([client, pictures, operations], { objects: s3ObjectStore, mysqlHost })
