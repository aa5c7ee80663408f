import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { configurationReference } from '../configuration-reference.ts'

const { values } = parseArgs({ options: { out: { type: 'string' } } })
const text = configurationReference()
if (values.out === undefined) process.stdout.write(text)
else await writeFile(values.out, text)
