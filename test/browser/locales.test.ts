import { describe, expect, it } from 'vitest'
import { languages } from '../../src/domain/languages.ts'
import { namespaces } from '../../src/domain/locales/translations.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
const path = (locale: string, namespace: string) =>
  `/locales/locale.json?${new URLSearchParams({ locale, namespace })}`
const ask = async (locale: string, namespace: string) =>
  (await world.request('GET', path(locale, namespace))).body

describe('the texts of the application', () => {
  it('come by language and namespace, several at once', async () => {
    const answer = await world.request('GET', '/locales/locale.json?locale=de+en&namespace=strings+activity')
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body)).toEqual(['de', 'en'])
    expect(Object.keys(answer.body.de)).toEqual(['strings', 'activity'])
    expect(answer.body.de.strings.action.save).toBe('Speichern')
    expect(answer.body.en.activity.server.file.rename_other).toBe('Renamed {{count}} files in {{directory}}')
    for (const separator of [' ', ',', '%2B', '%20', ', ']) {
      const other = await world.request(
        'GET',
        `/locales/locale.json?locale=de${separator}en&namespace=strings${separator}activity`,
      )
      expect(other.body, separator).toEqual(answer.body)
    }
  })

  it('are there for every language and namespace', async () => {
    const body = await ask(languages.join(' '), namespaces.join(' '))
    expect(Object.keys(body)).toEqual([...languages])
    for (const language of languages) {
      expect(Object.keys(body[language])).toEqual([...namespaces])
      for (const name of namespaces) expect(Object.keys(body[language][name]).length).toBeGreaterThan(0)
    }
  })

  it('stand under the name that was asked for', async () => {
    const [plain] = Object.values(await ask('pt-BR', 'strings'))
    for (const name of ['pt_BR', 'pt', 'PT-br']) expect(await ask(name, 'strings')).toEqual({ [name]: plain })
    const [chinese] = Object.values(await ask('zh-CN', 'strings'))
    expect(await ask('zh', 'strings')).toEqual({ zh: chinese })
    expect(chinese).not.toEqual(plain)
  })

  it('may be cached publicly for an hour, and are not sent twice', async () => {
    const first = await world.request('GET', path('en', 'auth'))
    const tag = first.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[0-9a-f]{40,}"$/)
    expect(first.headers.get('cache-control')).toBe('public, max-age=3600, stale-while-revalidate=86400')
    expect(first.headers.get('content-type')).toMatch(/^application\/json/)
    expect(first.headers.get('x-content-type-options')).toBe('nosniff')
    expect(first.headers.getSetCookie()).toEqual([])
    const again = (headers: Record<string, string>, wanted = path('en', 'auth')) =>
      world.app.request(`${panelUrl}${wanted}`, { headers })
    const same = await again({ 'if-none-match': tag })
    expect([same.status, await same.text()]).toEqual([304, ''])
    expect(same.headers.get('etag')).toBe(tag)
    expect(same.headers.get('cache-control')).toBe(first.headers.get('cache-control'))
    expect((await again({ 'if-none-match': '"other"' })).status).toBe(200)
    expect((await again({ 'if-none-match': tag }, path('de', 'auth'))).status).toBe(200)
  })

  it('cost no statement, with or without a session', async () => {
    const headers = { cookie: `roost_session=${'a'.repeat(48)}`, authorization: 'Bearer x' }
    const statements = await world.countStatements(async () => {
      expect((await world.request('GET', path('en', 'auth'), { headers })).status).toBe(200)
    })
    expect(statements).toBe(0)
  })
})

describe('unknown names', () => {
  const hostile = [
    '../en',
    '..%2fen',
    'en/../../../package',
    '/etc/passwd',
    'en/strings.json',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'size',
    'get',
    'file:///etc/passwd',
    'en\\strings',
    'xx',
    'en-US',
  ]

  it.each(hostile)('stand for nothing: %s', async (name) => {
    const language = await world.request('GET', path(name, 'strings'))
    expect(language.status).toBe(200)
    expect(language.text).toBe(`{${JSON.stringify(name)}:{}}`)
    const namespace = await world.request('GET', path('en', name))
    expect(namespace.text).toBe(`{"en":{${JSON.stringify(name)}:{}}}`)
  })

  it('stand for nothing: namespaces of the panel itself', async () => {
    for (const name of [
      'mail',
      'Strings',
      'strings.action',
      'action',
      'default',
      '../en/mail',
      'mail.json',
    ]) {
      expect(await ask('en', name), name).toEqual({ en: { [name]: {} } })
    }
    expect({}).not.toHaveProperty('strings')
  })

  it('beside known ones do them no harm', async () => {
    const body = await ask('xx en', 'nothing strings')
    expect(body.xx).toEqual({})
    expect(body.en.nothing).toEqual({})
    expect(body.en.strings.action.save).toBe('Save')
  })
})

describe('lists that are no lists', () => {
  const refused = async (query: string) => {
    const { status, body } = await world.request('GET', `/locales/locale.json?${query}`)
    return [status, body.errors?.[0].meta.source_field, body.errors?.[0].meta.rule]
  }

  it('are refused when they are missing, too long, or of another kind', async () => {
    const many = Array.from({ length: 31 }, (_, at) => `l${at}`).join('+')
    expect(await refused('namespace=strings')).toEqual([422, 'locale', 'required'])
    expect(await refused('locale=en')).toEqual([422, 'namespace', 'required'])
    expect(await refused('locale=&namespace=strings')).toEqual([422, 'locale', 'required'])
    expect(await refused(`locale=${many}&namespace=strings`)).toEqual([422, 'locale', 'max'])
    expect(await refused(`locale=en&namespace=${many}`)).toEqual([422, 'namespace', 'max'])
    expect(await refused(`locale=${'x'.repeat(100_000)}&namespace=strings`)).toEqual([422, 'locale', 'max'])
    expect(await refused('locale[]=en&namespace=strings')).toEqual([422, 'locale', 'string'])
  })

  it('count a name once, and may be made of blanks', async () => {
    const body = await ask(Array.from({ length: 40 }, () => 'en').join(' '), 'strings')
    expect(Object.keys(body)).toEqual(['en'])
    expect(await ask(', ,', 'strings')).toEqual({})
  })

  it('are not kept when they are refused', async () => {
    const { headers } = await world.request('GET', '/locales/locale.json')
    expect(headers.get('cache-control')).toBe('no-store, private')
    expect(headers.get('etag')).toBeNull()
  })

  it('can only be read', async () => {
    expect((await world.request('POST', '/locales/locale.json')).status).toBe(405)
  })
})
