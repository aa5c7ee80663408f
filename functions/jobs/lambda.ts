import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { tick } from '../../src/domain/tick.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { jobs } from '../../src/surfaces/jobs.ts'

export const handler = lambda([jobs], tick, mysqlHost)
