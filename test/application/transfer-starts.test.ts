import { eq } from 'drizzle-orm'
import { decodeJwt, jwtVerify } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { nodes, servers } from '../../src/db/schema.ts'
import { makeAllocation, makeNode } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { callsOf, type Move, prepareMove } from '../support/transfers.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
const source = useStubDaemon()
const target = useStubDaemon()
let move: Move

beforeEach(async () => {
  move = await prepareMove(world, { source, target })
})

const rule = (answer: { body: any }) =>
  answer.body.errors.map((error: any) => [error.meta?.source_field, error.meta?.rule])
const statuses = (answers: { status: number }[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b)
const change = (values: Partial<typeof servers.$inferInsert>) =>
  world.database.db.update(servers).set(values).where(eq(servers.id, move.server.id))

describe('starting a transfer', () => {
  it('reserves allocations and room on the target and has the source send the server there', async () => {
    const { status, body } = await move.start()
    expect(status).toBe(202)
    expect(body).toMatchObject({
      object: 'server_transfer',
      attributes: {
        server: move.server.id,
        old_node: move.old.id,
        new_node: move.target.id,
        old_allocation: move.server.allocationId,
        new_allocation: move.fresh[0].id,
        old_additional_allocations: [move.additional.id],
        new_additional_allocations: [move.fresh[1].id],
        successful: null,
      },
    })
    expect(await move.state()).toEqual(move.during())
    expect((await move.show()).body).toEqual(body)
    const url = `http://127.0.0.1:${target.port}/api/transfers`
    expect(source.calls).toMatchObject([
      {
        method: 'POST',
        path: `/api/servers/${move.server.uuid}/transfer`,
        headers: { authorization: `Bearer ${move.old.secret}` },
        body: { url, server: { uuid: move.server.uuid, start_on_completion: false } },
      },
    ])
    expect(target.calls).toEqual([])
  })

  it('gives the source a token for the target that is good for this server and a quarter of an hour', async () => {
    await move.start()
    const [scheme, token] = source.calls[0]?.body.token.split(' ') ?? []
    const key = new TextEncoder().encode(move.target.secret)
    const { payload } = await jwtVerify(token, key, { currentDate: world.clock.now })
    expect(scheme).toBe('Bearer')
    expect(payload).toMatchObject({ sub: move.server.uuid, scope: 'transfer', iss: panelUrl })
    expect(payload.exp! - payload.iat!).toBe(900)
    expect(decodeJwt(token).unique_id).toMatch(/^[0-9a-f]{32}$/)
  })

  it('takes the names of the ecosystem for the fields, and no additional allocations', async () => {
    const body = {
      node: undefined,
      allocation: undefined,
      additional_allocations: undefined,
      node_id: String(move.target.id),
      allocation_id: String(move.fresh[0].id),
      allocation_additional: [move.fresh[1].id, move.fresh[0].id, move.fresh[1].id],
    }
    expect((await move.start(body)).body.attributes).toMatchObject({
      new_allocation: move.fresh[0].id,
      new_additional_allocations: [move.fresh[1].id],
    })
    await move.cancel()
    await world.runJobs()
    expect((await move.start({ additional_allocations: null })).body.attributes).toMatchObject({
      new_additional_allocations: [],
    })
  })

  it('names every field that is wrong, and changes nothing', async () => {
    const elsewhere = await makeAllocation(world, await makeNode(world))
    const additional = (ids: unknown) => ({ additional_allocations: ids })
    expect(rule(await move.start({ node: null, allocation: 'x' }))).toEqual([
      ['node', 'required'],
      ['allocation', 'integer'],
    ])
    expect(rule(await move.start({ node: move.old.id, ...additional([]) }))).toEqual([
      ['node', 'not_in'],
      ['allocation', 'exists'],
    ])
    expect(rule(await move.start({ node: 9999, ...additional([]) }))).toEqual([
      ['node', 'exists'],
      ['allocation', 'exists'],
    ])
    expect(
      rule(await move.start({ allocation: elsewhere.id, ...additional([move.fresh[1].id, 9999]) })),
    ).toEqual([
      ['allocation', 'exists'],
      ['additional_allocations.1', 'exists'],
    ])
    expect(rule(await move.start({ allocation: move.additional.id }))).toEqual([['allocation', 'exists']])
    expect(await move.state()).toEqual({
      ...move.before([]),
      used: [
        [512, 1024],
        [0, 0],
        [0, 0],
      ],
    })
    expect(source.calls).toEqual([])
  })

  it('is refused without room on the target, unless that may be given away without limit', async () => {
    const limit = (values: object) =>
      world.database.db.update(nodes).set(values).where(eq(nodes.id, move.target.id))
    await limit({ memory: 511 })
    const refused = await move.start()
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ code: 'NoViableNodeException' }] } })
    await limit({ memory: 512, disk: 1023 })
    expect((await move.start()).status).toBe(400)
    expect(await move.state()).toEqual(move.before([]))
    await limit({ diskOverallocate: -1 })
    expect((await move.start()).status).toBe(202)
  })

  it.each([
    ['installing', { status: 'installing' }, 409],
    ['whose installation failed', { status: 'install_failed' }, 409],
    ['suspended before it was installed', { status: 'suspended', installedAt: null }, 409],
    ['being restored', { status: 'restoring_backup' }, 409],
    ['suspended', { status: 'suspended' }, 202],
    ['whose reinstallation failed', { status: 'reinstall_failed' }, 202],
  ] as const)('of a server %s answers as its state allows', async (_name, values, status) => {
    await change(values)
    const answer = await move.start()
    expect(answer.status).toBe(status)
    if (status === 409) expect(answer.body.errors[0].code).toBe('ServerStateConflictException')
  })

  it('is refused while another transfer is open, also to one of two racers', async () => {
    expect(statuses(await Promise.all([move.start(), move.start()]))).toEqual([202, 409])
    expect(await move.state()).toEqual(move.during())
    const again = await move.start({ allocation: move.fresh[2].id, additional_allocations: [] })
    expect(again).toMatchObject({
      status: 409,
      body: { errors: [{ code: 'ServerStateConflictException' }] },
    })
    expect(callsOf(source)).toEqual(['POST /api/servers/{uuid}/transfer'])
  })

  it('gives one of two servers that race for an allocation or the last room a place', async () => {
    await world.database.db.update(nodes).set({ memory: 600 }).where(eq(nodes.id, move.target.id))
    const other = await prepareMove(world, { source, target })
    const wanted = { node: move.target.id, additional_allocations: [] }
    const answers = await Promise.all([
      move.start({ ...wanted, allocation: move.fresh[0].id }),
      other.start({ ...wanted, allocation: move.fresh[1].id }),
    ])
    expect(statuses(answers)).toEqual([202, 400])
  })

  it('does not deadlock when servers swap nodes at the same time', async () => {
    const back = await prepareMove(world, { source: target, target: source })
    const free = await makeAllocation(world, move.old)
    const answers = await Promise.all([
      move.start({
        node: back.old.id,
        allocation: (await makeAllocation(world, back.old)).id,
        additional_allocations: [],
      }),
      back.start({ node: move.old.id, allocation: free.id, additional_allocations: [] }),
    ])
    expect(statuses(answers)).toEqual([202, 202])
  })

  it.each([
    ['refuses', { status: 500, json: { error: 'it would not stop' } }, 500],
    ['is sending it already', { status: 409, json: { error: 'already' } }, 409],
    ['does not know the panel', { status: 403 }, 502],
    ['hangs', { hang: true } as const, 504],
  ])('reserves nothing when the source %s', async (_name, answer, status) => {
    if ('hang' in answer) Object.assign(world.services.config, { daemonTimeoutMs: 150 })
    source.respond(answer)
    expect((await move.start()).status).toBe(status)
    expect(await move.state()).toEqual(move.before([false]))
    expect((await move.show()).body.attributes.successful).toBe(false)
    source.respond(null)
    Object.assign(world.services.config, { daemonTimeoutMs: undefined })
    world.clock.advance(60)
    await world.runJobs()
    expect(callsOf(source)).toEqual([
      'POST /api/servers/{uuid}/transfer',
      'DELETE /api/servers/{uuid}/transfer',
    ])
    expect(callsOf(target)).toEqual(['DELETE /api/servers/{uuid}'])
    expect((await move.start()).status).toBe(202)
  })

  it('is refused until the target has removed what an earlier transfer left there', async () => {
    await move.start()
    target.respond({ status: 500 })
    await move.report(move.old, 'failure')
    await world.runJobs()
    expect(await move.start()).toMatchObject({
      status: 409,
      body: { errors: [{ code: 'ConflictHttpException' }] },
    })
    target.respond(null)
    world.clock.advance(60)
    await world.runJobs()
    expect((await move.start()).status).toBe(202)
    expect(await move.state()).toEqual(move.during([false, null]))
  })
})
