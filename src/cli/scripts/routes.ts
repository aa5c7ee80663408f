import { parseArgs } from 'node:util'
import { listMountedRoutes } from '../api-info.ts'
import { describeRoute, routeTable } from '../route-table.ts'

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })
const routes = listMountedRoutes().map(describeRoute)
process.stdout.write(values.json ? `${JSON.stringify(routes, null, 2)}\n` : routeTable(routes))
