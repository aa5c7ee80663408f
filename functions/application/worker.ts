import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { worker } from '../../src/platform/workers.ts'
import { application } from '../../src/surfaces/application.ts'

export default worker([application], { mysqlHost })
