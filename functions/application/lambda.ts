import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { application } from '../../src/surfaces/application.ts'

export const handler = lambda([application], { mysqlHost })
