import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { tick } from '../../src/domain/tick.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { nodeGameQuery } from '../../src/platform/node-game-query.ts'
import { openSmtp } from '../../src/platform/smtp.ts'
import { jobs } from '../../src/surfaces/jobs.ts'

export const handler = lambda([jobs], { tick, mysqlHost, gameQuery: nodeGameQuery, smtp: openSmtp })
