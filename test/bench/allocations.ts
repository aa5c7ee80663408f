import { openConnection, requestBytes } from './http-client.ts'
import { command, readAllocations, type RunningPanel } from './panel.ts'
import type { Row } from './rows.ts'
import type { Size } from './seed.ts'

const attempts = 3
const requestsPerAttempt = 100
/** Rows that take long. */
const fewRequests = 10

/**
 * Returns the bytes that one request allocates on the heap of JavaScript: what is in use more after a hundred
 * requests, and what the collections in between have freed. The smallest of some attempts, since the minute's tick and
 * compilation only add. Buffers are not counted.
 */
export async function measureAllocations(row: Row, panel: RunningPanel, size: Size): Promise<number> {
  const requests = row.isWithoutBaseline ? fewRequests : requestsPerAttempt
  const connection = openConnection(panel.port)
  const found: number[] = []
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const bytes = Array.from({ length: requests }, (_, n) => requestBytes(panel.port, row.request(n, size)))
    await command(panel, '/allocations')
    for (const each of bytes) await connection.send(each)
    found.push((await readAllocations(panel)) / requests)
  }
  connection.close()
  return Math.min(...found)
}
