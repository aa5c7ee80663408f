import { describe, expect, it } from 'vitest'
import type { QueueMessage } from '../../src/adapters/queue.ts'
import { enqueueJob } from '../../src/domain/jobs/enqueue.ts'
import { readTrace } from '../../src/http/traceparent.ts'
import { localQueue } from '../../src/platform/local/queue.ts'
import { openPanel } from '../../src/platform/open-panel.ts'
import { makeClientToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { useLogLines } from '../support/log-lines.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { signingKeys, useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
const logged = useLogLines()

const id = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${id}-b7ad6b7169203331-01`

describe('the trace of a request', () => {
  it('names the request, in its answer and in the log', async () => {
    const { headers } = await world.request('GET', '/health', { headers: { traceparent } })
    expect(headers.get('x-request-id')).toBe(id)
    expect(headers.get('traceparent')).toBeNull()
    expect(logged.lines()).toMatchObject([{ message: 'request', request: id }])
  })

  it.each([
    ['no hexadecimal', `00-${'z'.repeat(32)}-b7ad6b7169203331-01`],
    ['large letters', traceparent.toUpperCase()],
    ['nothing but zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    ['a parent of zeros', `00-${id}-${'0'.repeat(16)}-01`],
    ['the forbidden version', `ff${traceparent.slice(2)}`],
    ['more than its version has', `${traceparent}-00`],
    ['too little', traceparent.slice(0, -3)],
    ['two of them', `${traceparent}, ${traceparent}`],
    ['a line break', `00-${id}\n-b7ad6b7169203331-01`],
  ])('is passed over when it is %s', async (_name, header) => {
    expect(readTrace(header)).toBeNull()
  })

  it('of a later version is read as far as it is known', () => {
    expect(readTrace(`cc-${id}-b7ad6b7169203331-ff-more`)).toEqual({
      id,
      header: `00-${id}-b7ad6b7169203331-03`,
      state: null,
    })
  })

  it.each([
    ['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
    [' a=1 , ,b@c=2 ', 'a=1,b@c=2'],
    ['', null],
    ['no entry', null],
    ['A=1', null],
    [`a=1\r\nx: y`, null],
    [`a=${'x'.repeat(256)},b=${'x'.repeat(256)}`, null],
    [Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(','), null],
  ])('has the state %j of the systems before as %j', (state, expected) => {
    expect(readTrace(traceparent, state)?.state).toBe(expected)
    expect(readTrace('none', state)).toBeNull()
  })

  it('reaches daemons that are called, and nothing reaches them without one', async () => {
    const user = await makeUser(world)
    const node = await makeNode(world, { daemonListen: daemon.port })
    const server = await makeServer(world, { ownerId: user.id, nodeId: node.id })
    const token = await makeClientToken(world, user)
    const power = { token, body: { signal: 'start' } }
    const tracestate = 'rojo=1'
    const path = `/api/client/servers/${server.uuid}/power`
    const sent: Record<string, string>[] = [{ traceparent, tracestate }, { traceparent }, { tracestate }, {}]
    for (const headers of sent)
      expect((await world.request('POST', path, { ...power, headers })).status).toBe(204)
    expect(daemon.calls.map(({ headers }) => [headers.traceparent, headers.tracestate])).toEqual([
      [traceparent, tracestate],
      [traceparent, undefined],
      [undefined, undefined],
      [undefined, undefined],
    ])
  })

  it('goes with the messages that wake its jobs, to where they are run', async () => {
    const sent: QueueMessage[] = []
    const delivered = Promise.withResolvers<Request>()
    const { queue, close } = localQueue({
      origin: () => 'http://panel.test',
      signingKeys,
      deliver: async (request) => {
        delivered.resolve(request)
        return world.app.request(request)
      },
    })
    const send = async (messages: readonly QueueMessage[]) => {
      sent.push(...messages)
      await queue.send(messages)
    }
    const parts = { ...world.services, queue: { ...world.services.queue, send } }
    const facts = { ip: '192.0.2.1', requestId: id, defer: () => undefined, trace: readTrace(traceparent) }
    await enqueueJob(openPanel(parts, facts), 'prune', {})
    expect(sent).toMatchObject([{ traceparent }])
    expect((await delivered.promise).headers.get('traceparent')).toBe(traceparent)
    await expect
      .poll(() => logged.lines())
      .toMatchObject([{ route: '/jobs/run', request: id, actor: 'system' }])
    close()
  })
})
