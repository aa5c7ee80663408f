import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { tick } from '../../src/domain/tick.ts'
import { worker } from '../../src/platform/workers.ts'
import { workersGameQuery } from '../../src/platform/workers-game-query.ts'
import { surfaces } from '../../src/surfaces/all.ts'

export default worker(surfaces, { tick, mysqlHost, gameQuery: workersGameQuery })
