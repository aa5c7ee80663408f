import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { tick } from '../../src/domain/tick.ts'
import { worker } from '../../src/platform/workers.ts'
import { workersGameQuery } from '../../src/platform/workers-game-query.ts'
import { jobs } from '../../src/surfaces/jobs.ts'

export default worker([jobs], { tick, mysqlHost, gameQuery: workersGameQuery })
