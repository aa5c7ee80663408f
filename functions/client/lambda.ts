import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { client } from '../../src/surfaces/client.ts'

export const handler = lambda([client], { mysqlHost })
