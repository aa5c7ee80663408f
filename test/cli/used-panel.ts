import { expect } from 'vitest'
import type { Bootstrap } from '../../src/platform/local/demo.ts'
import { type Administrated, demoServer } from '../support/panel-process.ts'
import { png } from '../support/pictures.ts'
import type { CommandLine } from './command-line.ts'

/** A panel that `openCommandLine` has started, with a demo. */
export type Running = Awaited<ReturnType<CommandLine['start']>>
/** What the player of a panel sees. */
export type Seen = { servers: string[]; schedules: string[]; activity: number[]; picture: string }

const picture = png(40, 30)

/** Adds a schedule and a picture as the player; returns what that shows. */
export async function usePanel(running: Running, bootstrap: Bootstrap): Promise<Seen> {
  const ask = asPlayer(running, bootstrap)
  const times = { minute: '0', hour: '4', day_of_month: '*', month: '*', day_of_week: '*' }
  const path = `/servers/${bootstrap.server.identifier}/schedules`
  expect((await ask('POST', path, { name: 'Nightly ü', ...times })).status).toBe(200)
  const form = new FormData()
  form.set('avatar', new File([Uint8Array.from(picture)], 'me.png', { type: 'image/png' }))
  expect((await ask('POST', '/account/avatar', form)).status).toBe(200)
  const seen = await seenIn(running, bootstrap)
  expect(seen).toMatchObject({
    servers: [bootstrap.server.uuid],
    schedules: ['Nightly ü'],
    picture: picture.toString('hex'),
  })
  expect(seen.activity).not.toEqual([])
  return seen
}

/** Reads the player's servers with schedules and activity, and the picture. */
export async function seenIn(running: Running, bootstrap: Bootstrap): Promise<Seen> {
  const ask = asPlayer(running, bootstrap)
  const { identifier } = bootstrap.server
  const [servers, schedules, activity, account] = await Promise.all(
    ['', `/servers/${identifier}/schedules`, `/servers/${identifier}/activity`, '/account'].map((path) =>
      ask('GET', path),
    ),
  )
  const listed = (answer: typeof servers, field: string) =>
    answer?.body.data.map((each: any) => each.attributes[field])
  const file = new URL(account?.body.attributes.image).pathname
  return {
    servers: listed(servers, 'uuid'),
    schedules: listed(schedules, 'name'),
    activity: listed(activity, 'id'),
    picture: Buffer.from(await (await fetch(`${running.url}${file}`)).arrayBuffer()).toString('hex'),
  }
}

/** Creates a location and, on a free allocation, a server; returns their ids. */
export async function createMore(running: Running, bootstrap: Bootstrap) {
  const asAdmin: Administrated['asAdmin'] = (method, path, body) =>
    call(`${running.url}/api/application${path}`, bootstrap.application_key, method, body as object)
  const location = await asAdmin('POST', '/locations', { short: 'new' })
  const { body } = await asAdmin('GET', `/nodes/${bootstrap.node.id}/allocations`)
  const free = body.data.find((each: any) => !each.attributes.assigned)
  const server = await asAdmin('POST', '/servers', await demoServer({ asAdmin }, 1, free.attributes.id))
  return { location: location.body.attributes.id as number, server: server.body.attributes.id as number }
}

/** Signs in as a browser does; returns the status of the answer. */
export async function signIn({ url }: Running, { user }: Bootstrap): Promise<number> {
  const page = await fetch(`${url}/auth/login`)
  const cookies = page.headers.getSetCookie().map((line) => line.split(';')[0])
  const csrf = /name="csrf-token" content="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  const headers = { origin: url, accept: 'application/json', 'content-type': 'application/json' }
  const answer = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { ...headers, 'x-xsrf-token': csrf, cookie: cookies.join('; ') },
    body: JSON.stringify({ user: user.username, password: user.password }),
  })
  return answer.status
}

const asPlayer =
  ({ url }: Running, { user }: Bootstrap) =>
  (method: string, path: string, body?: object) =>
    call(`${url}/api/client${path}`, user.client_key, method, body)

async function call(url: string, key: string, method: string, body?: object) {
  const isForm = body instanceof FormData
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
  })
  return { status: answer.status, body: (await answer.json()) as any }
}
