import { afterEach, expect, it } from 'vitest'
import { log, setLineWriter, setLogLevel } from '../../src/log.ts'
import { writeLinesTogether } from '../../src/platform/log-lines.ts'

afterEach(() => setLineWriter((line) => console.log(line)))

it('lines of one turn of the event loop are written together, in their order, and none is lost', async () => {
  const written: string[] = []
  writeLinesTogether((text) => void written.push(text))
  setLogLevel('info')
  for (let n = 0; n < 3; n += 1) log('info', `line ${n}`)
  expect(written).toEqual([])
  await new Promise((resolve) => setImmediate(resolve))
  expect(written).toHaveLength(1)
  const messages = written[0]?.split('\n').map((line) => (JSON.parse(line) as { message: string }).message)
  expect(messages).toEqual(['line 0', 'line 1', 'line 2'])
  log('info', 'the last')
  process.emit('exit', 0)
  expect(written).toHaveLength(2)
})
