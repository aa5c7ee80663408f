import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { schedules } from '../../../src/db/schema.ts'
import { openConsole } from '../../support/console.ts'
import { eventually } from '../../support/processes.ts'
import { expectStatus, type Fixtures } from './fixtures.ts'

/** A time that does not come while the suite runs. */
const yearly = { minute: '0', hour: '0', day_of_month: '1', month: '1', day_of_week: '*' }

/** Defines the tests of schedules in the background: by messages of the queue, and by the minute tick. */
export function schedulesOn(at: () => Fixtures): void {
  describe('a schedule', () => {
    let console: Awaited<ReturnType<typeof openConsole>>

    beforeAll(async () => {
      const { asOwner, platform } = at()
      const { data } = expectStatus(await asOwner('GET', '/websocket'), 200)
      console = await openConsole(data, platform.origin)
      expectStatus(await asOwner('POST', '/power', { json: { signal: 'start' } }), 204)
      await eventually(console.isIn('running'))
    })
    afterAll(async () => {
      await at().asOwner('POST', '/power', { json: { signal: 'kill' } })
      console?.socket.close()
    })

    /** Adds a schedule that sends these commands, one after the other. */
    const add = async (...words: string[]): Promise<number> => {
      const { asOwner } = at()
      const made = await asOwner('POST', '/schedules', {
        json: { name: words[0], ...yearly, is_active: true },
      })
      const { id } = expectStatus(made, 200).attributes
      for (const word of words) {
        const task = { action: 'command', payload: `say ${word}`, time_offset: 0 }
        expectStatus(await asOwner('POST', `/schedules/${id}/tasks`, { json: task }), 200)
      }
      return id
    }
    const ending = (id: number) =>
      eventually(async () => {
        const [run] = expectStatus(await at().asOwner('GET', `/schedules/${id}/runs`), 200).data
        return run !== undefined && run.attributes.state !== 'running' && run.attributes.state
      }, 30)

    it('runs by signed messages of the queue, and by no others', async () => {
      const { asOwner, services, wire, platform } = at()
      const published = services.queue.messages.length
      const id = await add('first', 'second')
      expectStatus(await asOwner('POST', `/schedules/${id}/execute`), 202)
      expect(await ending(id)).toBe('succeeded')
      await eventually(console.seen('console output', 'first'))
      await eventually(console.seen('console output', 'second'))
      const message = services.queue.messages[published]
      expect(message?.url).toBe(`${platform.origin}/jobs/run`)
      const body = new TextDecoder().decode(message?.body)
      expectStatus(await wire('POST', '/jobs/run', { body }), 401)
      const signature = { 'upstash-signature': 'eyJhbGciOiJIUzI1NiJ9.e30.AAAA' }
      expectStatus(await wire('POST', '/jobs/run', { body, headers: signature }), 401)
      expect(services.queue.deadLetters).toEqual([])
    })

    it('whose time has come is run by the tick of the minute', async () => {
      const { platform, services } = at()
      const id = await add('punctual')
      const past = { nextRunAt: sql`now() - interval '10 seconds'` }
      await services.database.db.update(schedules).set(past).where(eq(schedules.id, id))
      await platform.tick()
      expect(await ending(id)).toBe('succeeded')
      await eventually(console.seen('console output', 'punctual'))
    })
  })
}
