import { describe, expect, it } from 'vitest'
import { openConsole } from '../../support/console.ts'
import { eventually } from '../../support/processes.ts'
import { expectStatus, type Fixtures } from './fixtures.ts'

/** Defines the tests of an installed server: power, console, and what is recorded. */
export function consoleOn(at: () => Fixtures): void {
  describe('a server', () => {
    it('is its owner’s, installed, and every part of the panel is well, the driver of Neon among them', async () => {
      const { wire, asPlayer, server, platform, services } = at()
      const mine = expectStatus(await asPlayer('GET', ''), 200)
      expect(mine.data.map(({ attributes }: any) => attributes)).toMatchObject([
        { uuid: server.uuid, server_owner: true, status: null, is_installing: false },
      ])
      await platform.tick()
      const health = await eventually(async () => {
        const { status, body } = await wire('GET', '/health')
        return status === 200 && body.parts.tick === 'ok' && body
      })
      const parts = { database: 'ok', cache: 'ok', queue: 'ok', objects: 'ok', tick: 'ok', migrations: 'ok' }
      expect(health).toMatchObject({ status: 'ok', parts })
      const { statements, connections } = services.neon.counts
      expect(statements + connections).toBeGreaterThan(0)
    })

    it('is started, watched through its daemon, typed into both ways, and stopped', async () => {
      const { asOwner, platform, daemon } = at()
      const { data } = expectStatus(await asOwner('GET', '/websocket'), 200)
      expect(new URL(data.socket).host).toBe(new URL(daemon.url).host)
      const console = await openConsole(data, platform.origin)
      expectStatus(await asOwner('POST', '/power', { json: { signal: 'start' } }), 204)
      await eventually(console.isIn('running'))
      console.send('send command', 'say from the socket')
      await eventually(console.seen('console output', 'from the socket'))
      expectStatus(await asOwner('POST', '/command', { json: { command: 'say über HTTP' } }), 204)
      await eventually(console.seen('console output', 'über HTTP'))
      expectStatus(await asOwner('POST', '/power', { json: { signal: 'stop' } }), 204)
      await eventually(console.isIn('offline'))
      console.socket.close()
      expectStatus(await asOwner('POST', '/command', { json: { command: 'list' } }), 502)
    })

    it('has all of that in its activity, what the daemon reported among it', async () => {
      const { asOwner } = at()
      const wanted = ['server:power.start', 'server:console.command', 'server:power.stop']
      await eventually(async () => {
        const { data } = expectStatus(await asOwner('GET', '/activity?per_page=100'), 200)
        const entries = data.map(({ attributes }: any) => attributes)
        const commands = entries
          .filter(({ event }: any) => event === 'server:console.command')
          .map(({ properties }: any) => properties.command)
        const events = new Set(entries.map(({ event }: any) => event))
        return (
          wanted.every((event) => events.has(event)) &&
          ['say from the socket', 'say über HTTP'].every((command) => commands.includes(command))
        )
      })
    })
  })
}
