import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { openApiDocument } from '../../http/openapi.ts'
import { apiInfo, listMountedRoutes } from '../api-info.ts'

const { values } = parseArgs({
  options: { out: { type: 'string' }, url: { type: 'string', default: '/' } },
})
const text = `${JSON.stringify(openApiDocument(listMountedRoutes(), apiInfo(values.url)), null, 2)}\n`
if (values.out === undefined) process.stdout.write(text)
else await writeFile(values.out, text)
