import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { worker } from '../../src/platform/workers.ts'
import { client } from '../../src/surfaces/client.ts'

export default worker([client], { mysqlHost })
