import { beforeEach, describe, expect, it } from 'vitest'
import {
  makeAnnouncement,
  makeApplicationToken,
  makeEgg,
  makeLocation,
  makeMount,
  makeNode,
  makeRole,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { makeDatabaseHost } from '../support/mysql.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

type Change = { path: string; to?: string; body: (attributes: any, text: string) => object; field: string }

/** How each resource is shown and changed. */
const resources: Record<string, () => Promise<Change>> = {
  'the details of a server': async () => ({
    path: `/servers/${(await makeServer(world)).id}`,
    to: '/details',
    body: ({ user, name }, description) => ({ user, name, description }),
    field: 'description',
  }),
  'the build of a server': async () => ({
    path: `/servers/${(await makeServer(world, { allocationLimit: 1 })).id}`,
    to: '/build',
    body: ({ allocation, limits, feature_limits: features }, threads) => ({
      allocation,
      limits: { ...limits, threads: threads === 'Mine' ? '1' : '2' },
      feature_limits: features,
    }),
    field: 'limits',
  }),
  'the startup of a server': async () => ({
    path: `/servers/${(await makeServer(world)).id}`,
    to: '/startup',
    body: ({ egg, container }, startup) => ({
      egg,
      image: container.image,
      startup,
      environment: {},
      skip_scripts: false,
    }),
    field: 'container',
  }),
  'a node': async () => ({
    path: `/nodes/${(await makeNode(world)).id}`,
    body: (_, description) => ({ description }),
    field: 'description',
  }),
  'a user': async () => ({
    path: `/users/${(await makeUser(world)).id}`,
    body: ({ username, email, last_name: last }, first) => ({
      username,
      email,
      first_name: first,
      last_name: last,
    }),
    field: 'first_name',
  }),
  'a location': async () => ({
    path: `/locations/${(await makeLocation(world)).id}`,
    body: (_, long) => ({ long }),
    field: 'long',
  }),
  'a nest': async () => ({
    path: `/nests/${(await makeEgg(world)).nestId}`,
    body: (_, description) => ({ description }),
    field: 'description',
  }),
  'an egg': async () => {
    const { id, nestId } = await makeEgg(world)
    return {
      path: `/nests/${nestId}/eggs/${id}`,
      body: (_, description) => ({ description }),
      field: 'description',
    }
  },
  'a role': async () => ({
    path: `/roles/${(await makeRole(world, {})).id}`,
    body: (_, description) => ({ description }),
    field: 'description',
  }),
  'a database host': async () => ({
    path: `/database-hosts/${(await makeDatabaseHost(world)).id}`,
    body: (_, name) => ({ name }),
    field: 'name',
  }),
  'an announcement': async () => ({
    path: `/announcements/${(await makeAnnouncement(world)).id}`,
    body: (_, title) => ({ title }),
    field: 'title',
  }),
  'a mount': async () => ({
    path: `/mounts/${(await makeMount(world)).id}`,
    body: (_, description) => ({ description }),
    field: 'description',
  }),
  'the settings': async () => ({
    path: '/settings',
    body: (_, name) => ({ mail: { from_name: name } }),
    field: 'mail',
  }),
}

async function show({ path, field }: Change) {
  const { status, body, headers } = await world.request('GET', `/api/application${path}`, { token })
  expect(status).toBe(200)
  return { version: headers.get('etag') ?? '', attributes: body.attributes, value: body.attributes[field] }
}

async function change({ path, to = '', body }: Change, text: string, attributes: any, version?: string) {
  world.clock.now = new Date(world.clock.now.getTime() + 1000)
  return world.request('PATCH', `/api/application${path}${to}`, {
    token,
    body: body(attributes, text),
    headers: version === undefined ? {} : { 'if-match': version },
  })
}

describe.each(Object.entries(resources))('%s', (_name, prepare) => {
  it('is changed when it is the version that the caller expects, and else stays as it is', async () => {
    const resource = await prepare()
    const { version, attributes, value } = await show(resource)
    expect(version).toMatch(/^"[\w-]+"$/)
    expect((await change(resource, 'Mine', attributes, version)).status).toBe(200)
    const mine = await show(resource)
    expect(mine.value).not.toEqual(value)
    expect(mine.version).not.toBe(version)
    const refused = await change(resource, 'Theirs', attributes, version)
    expect(refused.status).toBe(412)
    expect(refused.body.errors[0].code).toBe('PreconditionFailedHttpException')
    expect((await show(resource)).value).toEqual(mine.value)
  })
})

describe('the version that a caller expects', () => {
  it('may be any, one of several, or one that a proxy has weakened', async () => {
    const resource = await resources['a location']!()
    const { attributes } = await show(resource)
    const accepted = async (text: string, header: (version: string) => string | undefined) => {
      const { version } = await show(resource)
      return (await change(resource, text, attributes, header(version))).status
    }
    expect(await accepted('a', () => undefined)).toBe(200)
    expect(await accepted('b', () => '*')).toBe(200)
    expect(await accepted('c', (version) => `"other", ${version}`)).toBe(200)
    expect(await accepted('d', (version) => `W/${version}`)).toBe(200)
    expect(await accepted('e', () => '"other"')).toBe(412)
    expect(await accepted('f', () => 'nonsense')).toBe(412)
  })

  it('holds for one of two changes at the same time', async () => {
    const resource = await resources['a location']!()
    const { attributes, version } = await show(resource)
    const answers = await Promise.all(
      ['one', 'other'].map((text) => change(resource, text, attributes, version)),
    )
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 412])
  })
})
