import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { jobs, passwordResets, servers, subusers, users } from '../../src/db/schema.ts'
import { languages } from '../../src/domain/languages.ts'
import { enqueueSignInMethodNotice, enqueueInvitation, enqueueMail } from '../../src/domain/mail/enqueue.ts'
import { readMailTexts } from '../../src/domain/mail/texts.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { openBrowser } from '../support/browser.ts'
import { known, makeClientToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
let user: Awaited<ReturnType<typeof makeUser>>

beforeEach(async () => {
  user = await makeUser(world, { username: 'mara', passwordHash: known.passwordHash })
})

const waiting = async () =>
  (await world.database.db.select().from(jobs)).filter(({ state }) => state === 'waiting')
const sent = async () => {
  await world.runJobs()
  return (await world.mails()).map(({ to, subject }) => `${to}: ${subject}`)
}

/** Makes the provider unreachable until `return`; counts the attempts. */
function breakMail() {
  const tried: unknown[] = []
  const send = async (message: unknown) => {
    tried.push(message)
    throw new Error('The mail provider answered 503.')
  }
  Object.assign(world.panel, { mail: { send } })
  return { tried, mend: () => void Object.assign(world.panel, { mail: world.services.mail }) }
}

describe('a mail', () => {
  it('is in the language of its recipient, and English where they leave it to the browser', async () => {
    for (const language of [...languages, 'auto']) {
      const reader = await makeUser(world, { language, email: `${language}@example.test` })
      await enqueueMail(world.panel, { template: 'password-changed', userId: reader.id })
    }
    await world.runJobs()
    const found = new Map((await world.mails()).map((mail) => [mail.to, mail]))
    for (const language of languages) {
      const mail = found.get(`${language}@example.test`)
      const { subject } = (await readMailTexts(language))['password-changed']
      expect(mail?.subject).toBe(subject.replace('{{panel}}', 'Roost'))
      expect(mail?.html).toContain(`<html lang="${language}">`)
    }
    expect(found.get('auto@example.test')?.subject).toBe('Your password for Roost was changed')
  })

  it('comes from whom the settings name, and else from whom the environment does', async () => {
    const order = { template: 'registered' as const, userId: user.id }
    await enqueueMail(world.panel, order)
    await world.runJobs()
    await changeSettings(world.panel, { mail: { from_name: 'Höst', from_address: 'help@example.test' } })
    await enqueueMail(world.panel, order)
    await world.runJobs()
    expect((await world.mails()).map(({ from }) => from)).toEqual([
      { name: null, address: null },
      { name: 'Höst', address: 'help@example.test' },
    ])
  })

  it('is tried again until its provider is back, with a link of its own each time', async () => {
    const { tried, mend } = breakMail()
    await enqueueMail(world.panel, { template: 'password-reset', userId: user.id })
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await world.runJobs()
      expect(await world.database.db.select().from(passwordResets)).toEqual([])
      world.clock.advance(60)
    }
    const [job] = await waiting()
    expect(job).toMatchObject({ attempts: 3, lastError: 'The mail provider answered 503.' })
    mend()
    expect(await sent()).toHaveLength(1)
    expect(await waiting()).toEqual([])
    const links = [...tried, ...(await world.mails())].map(({ text }: any) => /reset\/(\w+)/.exec(text)?.[1])
    expect(new Set(links).size).toBe(4)
    expect(await world.database.db.select().from(passwordResets)).toHaveLength(1)
    expect(JSON.stringify(await world.database.db.select().from(jobs))).not.toContain(links[3])
  })

  it('is not sent to an account that was deleted meanwhile', async () => {
    const server = await makeServer(world, { owner: user })
    const member = await makeUser(world)
    await makeSubuser(world, server, member, [])
    await enqueueInvitation(world.panel, { userId: member.id, serverId: server.id })
    await enqueueMail(world.panel, { template: 'server-installed', serverId: 4711 })
    await enqueueMail(world.panel, { template: 'password-reset', userId: 4711 })
    await enqueueMail(world.panel, { template: 'password-reset', userId: null })
    await world.database.db.delete(subusers)
    expect(await sent()).toEqual([])
    expect(await waiting()).toEqual([])
  })

  it('shows names of servers that mean harm as the names they are', async () => {
    const name = 'Sky"\r\nBcc: all@example.test\u202e <a href="https://evil.test">click</a> {{panel}}'
    const server = await makeServer(world, { owner: user, name })
    await enqueueMail(world.panel, { template: 'server-installed', serverId: server.id })
    await world.runJobs()
    const [mail] = await world.mails()
    expect(mail?.subject).not.toMatch(/[\r\n]/)
    expect(mail?.text).toContain(
      '"Sky" Bcc: all@example.test  <a href="https://evil.test">click</a> {{panel}}"',
    )
    expect(mail?.html).not.toContain('<a href="https://evil.test"')
    expect(mail?.html.match(/<a /g)).toHaveLength(1)
  })
})

describe('with the provider away', () => {
  it('everything that sends mail answers as ever', async () => {
    const { tried } = breakMail()
    Object.assign(world.services, { mail: world.panel.mail })
    await changeSettings(world.panel, { sign_in: { registration: true } })
    const token = await makeClientToken(world, user)
    const form = { username: 'new', email: 'new@example.test', password: 'long enough' }
    const answers = [
      await (await openBrowser(world)).request('POST', '/auth/password', { email: user.email }),
      await (
        await openBrowser(world)
      ).request('POST', '/auth/register', {
        ...form,
        password_confirmation: form.password,
      }),
      await (
        await openBrowser(world)
      ).request('POST', '/auth/login', { user: form.username, password: form.password }),
      await world.request('PUT', '/api/client/account/email', {
        token,
        body: { email: 'moved@example.test', password: known.password },
      }),
      await world.request('PUT', '/api/client/account/password', {
        token,
        body: {
          current_password: known.password,
          password: 'changed it',
          password_confirmation: 'changed it',
        },
      }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 204, 204])
    expect(tried).toEqual([])
    await world.runJobs()
    expect(tried).toHaveLength(5)
    expect(await waiting()).toHaveLength(5)
  })
})

describe('an account', () => {
  it('hears of each new way of signing in', async () => {
    await enqueueSignInMethodNotice(world.panel, user.id, 'passkey')
    await enqueueSignInMethodNotice(world.panel, user.id, 'identity')
    expect((await sent()).toSorted()).toEqual([
      `${user.email}: A passkey was added to your account on Roost`,
      `${user.email}: An account was linked to your account on Roost`,
    ])
    expect((await world.mails())[0]?.text).toContain(`${panelUrl}/account\n`)
  })

  it('hears of another address at both', async () => {
    const token = await makeClientToken(world, user)
    const change = (email: string) =>
      world.request('PUT', '/api/client/account/email', { token, body: { email, password: known.password } })
    expect((await change('moved@example.test')).status).toBe(204)
    expect((await change('MOVED@example.test')).status).toBe(204)
    const subject = 'The e-mail address of your account on Roost was changed'
    expect((await sent()).toSorted()).toEqual([`moved@example.test: ${subject}`, `${user.email}: ${subject}`])
    const [, first] = (await world.mails()).toSorted((one, other) => (one.to < other.to ? -1 : 1))
    expect(first?.text).not.toContain('moved@example.test')
  })

  it('hears of another password', async () => {
    const token = await makeClientToken(world, user)
    const body = {
      current_password: known.password,
      password: 'changed it',
      password_confirmation: 'changed it',
    }
    await world.request('PUT', '/api/client/account/password', { token, body })
    expect(await sent()).toEqual([`${user.email}: Your password for Roost was changed`])
    expect((await world.mails())[0]?.text).not.toContain('changed it')
  })

  it('hears nothing of what was refused', async () => {
    const token = await makeClientToken(world, user)
    const body = { current_password: 'wrong', password: 'changed it', password_confirmation: 'changed it' }
    await world.request('PUT', '/api/client/account/password', { token, body })
    await world.request('PUT', '/api/client/account/email', {
      token,
      body: { email: 'moved@example.test', password: 'wrong' },
    })
    expect(await world.database.db.select().from(jobs)).toEqual([])
  })
})

describe('an owner', () => {
  const installed = 'Your server on Roost is installed'
  const reinstalled = 'Your server on Roost was reinstalled'
  let node: Awaited<ReturnType<typeof makeNode>>
  let server: Awaited<ReturnType<typeof makeServer>>

  beforeEach(async () => {
    node = await makeNode(world)
    server = await makeServer(world, { node, owner: user, status: 'installing', installedAt: null })
  })
  const report = (body: object) =>
    world.request('POST', `/api/remote/servers/${server.uuid}/install`, { token: node.token, body })
  const again = () =>
    world.database.db.update(servers).set({ status: 'installing' }).where(eq(servers.id, server.id))

  it('hears once of each installation, however often its end is reported', async () => {
    await Promise.all([report({ successful: true }), report({ successful: true })])
    await report({ successful: true, reinstall: false })
    expect(await sent()).toEqual([`${user.email}: ${installed}`])
    expect((await world.mails())[0]?.text).toContain(`${panelUrl}/server/${server.uuidShort}`)
    await again()
    await report({ successful: true, reinstall: true })
    await report({ successful: true, reinstall: true })
    expect((await sent()).slice(1)).toEqual([`${user.email}: ${reinstalled}`])
    await again()
    await report({ successful: true })
    expect((await sent()).slice(2)).toEqual([`${user.email}: ${reinstalled}`])
  })

  it('hears nothing of failures', async () => {
    await report({ successful: false })
    await again()
    await report({ successful: false, reinstall: true })
    expect(await sent()).toEqual([])
  })

  it('hears of neither where an administrator switched it off', async () => {
    await changeSettings(world.panel, { notifications: { install: false } })
    await report({ successful: true })
    expect(await sent()).toEqual([])
    await changeSettings(world.panel, { notifications: { install: true, reinstall: false } })
    await again()
    await report({ successful: true, reinstall: true })
    expect(await sent()).toEqual([])
    expect(await waiting()).toEqual([])
  })

  it('is the owner of the server when the mail is sent, in their language', async () => {
    await report({ successful: true })
    const heir = await makeUser(world, { language: 'de' })
    await world.database.db.update(servers).set({ ownerId: heir.id })
    expect(await sent()).toEqual([`${heir.email}: Dein Server bei Roost ist installiert`])
    expect(await world.database.db.select().from(users)).toHaveLength(2)
  })
})
