import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, settings, users } from '../../src/db/schema.ts'
import { answerOf, checkAnswer } from '../support/answers.ts'
import { makeApplicationToken, makeClientToken, makeUser } from '../support/factories.ts'
import {
  exifSegment,
  jpeg,
  jpegSegment,
  png,
  pngChunk,
  pngSignature,
  riffChunk,
  webp,
  webpHeader,
  webpPicture,
} from '../support/pictures.ts'
import { panelUrl, useWorld } from '../support/world.ts'
import { until } from '../support/until.ts'

const world = useWorld()
const path = '/api/client/account/avatar'
let user: Awaited<ReturnType<typeof makeUser>>
let token: string

beforeEach(async () => {
  user = await makeUser(world)
  token = await makeClientToken(world, user)
})

async function send(body: BodyInit, headers: Record<string, string> = {}) {
  const request = new Request(`${panelUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body,
  })
  const answer = await answerOf(await world.app.request(request))
  checkAnswer(world.app, 'POST', path, answer)
  return answer
}

async function choose(file: Uint8Array, name = 'me.png', type = 'image/png') {
  const form = new FormData()
  form.set('avatar', new File([Uint8Array.from(file)], name, { type }))
  // In one piece: a form that is still being written fails when the reader stops.
  const whole = new Response(form)
  return send(await whole.arrayBuffer(), { 'content-type': String(whole.headers.get('content-type')) })
}

const remove = () => world.request('DELETE', path, { token })
const fetchPicture = (url: string) => world.app.request(new Request(url))
const failureOf = ({ status, body }: { status: number; body: any }) => [
  status,
  body.errors[0].code,
  body.errors[0].meta?.source_field,
  body.errors[0].meta?.rule,
]
const storedFiles = () => world.objects.keys().map((key) => key.replace('avatars/', ''))
const keyNow = async () =>
  (await world.database.db.select().from(users).where(eq(users.id, user.id)))[0]?.avatarKey
/** Waits for work that continues after the response. */
const storedFileIs = (expected: string[]) => until(() => expect(storedFiles()).toEqual(expected))
const nameIn = (url: string) => url.slice(`${panelUrl}/avatars/`.length)

const types = [
  ['jpg', jpeg(40, 30), 'image/jpeg'],
  ['png', png(40, 30), 'image/png'],
  ['webp', webp(webpPicture(40, 30)), 'image/webp'],
  ['webp', webp(webpHeader(40, 30, 0), webpPicture(40, 30)), 'image/webp'],
] as const

describe('choosing a picture', () => {
  it.each(types)('stores %s, and shows it without a session', async (extension, file, type) => {
    const { status, body } = await choose(file, 'me.svg', 'text/html')
    expect(status).toBe(200)
    expect(body).toEqual((await world.request('GET', '/api/client/account', { token })).body)
    const { image } = body.attributes
    expect(image).toMatch(new RegExp(`^http://panel\\.test/avatars/[0-9a-f]{32}\\.${extension}$`))
    expect(storedFiles()).toEqual([nameIn(image)])
    const shown = await fetchPicture(image)
    expect(shown.status).toBe(200)
    expect(Buffer.from(await shown.arrayBuffer()).equals(file)).toBe(true)
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    })
    expect(await world.database.db.select().from(activity)).toMatchObject([
      { event: 'user:account.avatar-updated', userId: user.id, actorId: user.id, properties: {} },
    ])
  })

  it('takes away the one before', async () => {
    const first = (await choose(png(1, 1))).body.attributes.image
    const second = (await choose(jpeg(1, 1))).body.attributes.image
    expect(second).not.toBe(first)
    await storedFileIs([nameIn(second)])
    expect((await fetchPicture(first)).status).toBe(404)
    expect((await fetchPicture(second)).status).toBe(200)
  })

  it('leaves one when ten are sent at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => choose(png(5, 5))))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    await storedFileIs([String(await keyNow()).slice('avatars/'.length)])
    expect((await world.events()).length).toBe(10)
  })

  it('takes pictures of 1 to 4096 pixels on each side, and of 2048 KiB', async () => {
    for (const [width, height] of [
      [1, 4096],
      [4096, 1],
    ] as const) {
      for (const file of [png(width, height), jpeg(width, height), webp(webpPicture(width, height))]) {
        expect((await choose(file)).status).toBe(200)
      }
    }
    const rest = 2048 * 1024 - png(1, 1).length - 12
    expect((await choose(png(1, 1, [pngChunk('tEXt', Buffer.alloc(rest))]))).status).toBe(200)
  })

  it('strips what the camera wrote', async () => {
    const secret = Buffer.from('52.5163 N', 'latin1')
    for (const file of [
      jpeg(9, 9, [exifSegment(6), jpegSegment(0xfe, secret)]),
      png(9, 9, [pngChunk('tEXt', secret), pngChunk('eXIf', secret)]),
      webp(webpHeader(9, 9, 0x0c), webpPicture(9, 9), riffChunk('EXIF', secret), riffChunk('XMP ', secret)),
    ]) {
      const shown = await fetchPicture((await choose(file)).body.attributes.image)
      expect(Buffer.from(await shown.arrayBuffer()).includes('52.5163')).toBe(false)
    }
  })
})

describe('what is no picture', () => {
  const html = Buffer.from('<html><script>alert(1)</script></html>')
  const cases: [string, Uint8Array, string][] = [
    ['a page', html, 'mimes'],
    ['a page with the beginning of a PNG', Buffer.concat([pngSignature, html]), 'image'],
    ['a page behind a PNG', Buffer.concat([png(1, 1), html]), 'image'],
    ['a page behind a JPEG', Buffer.concat([jpeg(1, 1), html]), 'image'],
    ['a page behind a WebP', Buffer.concat([webp(webpPicture(1, 1)), html]), 'image'],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'), 'mimes'],
    ['a GIF', Buffer.from('R0lGODlhAQABAAAAACw=', 'base64'), 'mimes'],
    ['a PDF', Buffer.from('%PDF-1.7'), 'mimes'],
    ['one byte', Buffer.from([0x89]), 'mimes'],
    ['half a PNG', png(40, 30).subarray(0, 40), 'image'],
    ['half a JPEG', jpeg(40, 30).subarray(0, 40), 'image'],
    ['half a WebP', webp(webpPicture(40, 30)).subarray(0, 24), 'image'],
    ['a sound', Buffer.from('RIFF\x04\0\0\0WAVE'), 'mimes'],
    ['a PNG without width', png(0, 1), 'dimensions'],
    ['a PNG that is too wide', png(4097, 1), 'dimensions'],
    ['a PNG that is far too high', png(1, 0x7fffffff), 'dimensions'],
    ['a JPEG that is too high', jpeg(1, 4097), 'dimensions'],
    ['a WebP that is too wide', webp(webpPicture(4097, 1)), 'dimensions'],
    ['a WebP whose canvas is too high', webp(webpHeader(1, 4097, 0), webpPicture(1, 1)), 'dimensions'],
    ['a WebP with a broken picture', webp(riffChunk('VP8L', Buffer.from([0x2f]))), 'image'],
    ['nothing', Buffer.alloc(0), 'required'],
    [
      'a byte too many',
      png(1, 1, [pngChunk('tEXt', Buffer.alloc(2048 * 1024 - png(1, 1).length - 11))]),
      'max',
    ],
    ['far too many bytes', Buffer.alloc(5 * 1024 * 1024), 'max'],
  ]

  it.each(cases)('is refused: %s', async (_name, file, rule) => {
    await choose(png(1, 1))
    const [before, stored] = [await keyNow(), storedFiles()]
    const answer = await choose(file)
    expect(failureOf(answer)).toEqual([422, 'ValidationException', 'avatar', rule])
    expect([await keyNow(), storedFiles()]).toEqual([before, stored])
    expect(await world.events()).toEqual(['user:account.avatar-updated'])
  })

  it('is refused where there is no file', async () => {
    const text = new FormData()
    text.set('avatar', 'me.png')
    const other = new FormData()
    other.set('picture', new File([Uint8Array.from(png(1, 1))], 'me.png'))
    expect(failureOf(await send(text)).slice(2)).toEqual(['avatar', 'file'])
    expect(failureOf(await send(other)).slice(2)).toEqual(['avatar', 'required'])
    expect(
      failureOf(await send(Uint8Array.from(png(1, 1)), { 'content-type': 'image/png' })).slice(2),
    ).toEqual(['avatar', 'required'])
    expect(failureOf(await send('{"avatar":"x"}', { 'content-type': 'application/json' })).slice(2)).toEqual([
      'avatar',
      'required',
    ])
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=x']) {
      const answer = await send('--y\r\nnonsense', { 'content-type': type })
      expect([answer.status, answer.body.errors[0].code]).toEqual([400, 'BadRequestHttpException'])
    }
    expect(storedFiles()).toEqual([])
  })
})

describe('a store that is away', () => {
  it('is said, and nothing changes', async () => {
    const { image } = (await choose(png(1, 1))).body.attributes
    const away = () => Promise.reject(new Error('away'))
    Object.assign(world.services, { objects: { ...world.objects, put: away, get: away } })
    const answer = await choose(png(2, 2))
    expect([answer.status, answer.body.errors[0].code]).toEqual([503, 'ServiceUnavailableHttpException'])
    expect(answer.headers.get('retry-after')).not.toBeNull()
    expect((await fetchPicture(image)).status).toBe(503)
    expect(storedFiles()).toEqual([nameIn(image)])
    expect(await keyNow()).toBe(`avatars/${nameIn(image)}`)
    expect(await world.events()).toEqual(['user:account.avatar-updated'])
  })

  it('does not prevent choosing another picture, or none', async () => {
    await choose(png(1, 1))
    Object.assign(world.services, {
      objects: { ...world.objects, remove: () => Promise.reject(new Error('away')) },
    })
    expect((await choose(png(2, 2))).status).toBe(200)
    expect((await remove()).status).toBe(200)
    expect(await keyNow()).toBeNull()
  })

  it('is left without the picture of a change that did not come about', async () => {
    Object.assign(world.services, {
      objects: {
        ...world.objects,
        put: async (...put: Parameters<typeof world.services.objects.put>) => {
          await world.objects.put(...put)
          await world.database.db.delete(users).where(eq(users.id, user.id))
        },
      },
    })
    expect((await choose(png(1, 1))).status).toBe(401)
    await storedFileIs([])
  })
})

describe('removing a picture', () => {
  it('goes back to that of the e-mail address, and is recorded once', async () => {
    const before = await world.request('GET', '/api/client/account', { token })
    const { image } = (await choose(png(1, 1))).body.attributes
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await remove()
      expect([status, body.attributes.image]).toEqual([200, before.body.attributes.image])
    }
    expect(storedFiles()).toEqual([])
    expect((await fetchPicture(image)).status).toBe(404)
    expect(await world.events()).toEqual(['user:account.avatar-updated', 'user:account.avatar-removed'])
  })

  it('comes with the removal of the account', async () => {
    await choose(png(1, 1))
    const { status } = await world.request('DELETE', `/api/application/users/${user.id}`, {
      token: await makeApplicationToken(world),
    })
    expect(status).toBe(204)
    await storedFileIs([])
  })
})

describe('pictures that are switched off', () => {
  it('are neither chosen nor removed', async () => {
    await choose(png(1, 1))
    const key = await keyNow()
    await world.database.db.insert(settings).values({ key: 'features.avatars', value: false })
    for (const answer of [await choose(png(2, 2)), await remove()]) {
      expect([answer.status, answer.body.errors[0].code]).toEqual([403, 'AccessDeniedHttpException'])
    }
    expect(await keyNow()).toBe(key)
    expect(storedFiles().length).toBe(1)
  })
})

describe('names of pictures', () => {
  it('are of one form; nothing else of the store is shown', async () => {
    await world.services.objects.put('avatars/me.png', png(1, 1), 'image/png')
    await world.services.objects.put('secret', Buffer.from('x'), 'text/plain')
    const hex = '0123456789abcdef0123456789abcdef'
    for (const name of [
      'me.png',
      `${hex}.png`,
      `${hex}.svg`,
      hex,
      `${hex}.png.type`,
      // Two dots alone are the address of the page above.
      '..%2fsecret',
      '.%2e%5csecret',
      `${hex.toUpperCase()}.png`,
    ]) {
      const { status } = await fetchPicture(`${panelUrl}/avatars/${name}`)
      expect([400, 404], name).toContain(status)
    }
    await world.services.objects.remove('avatars/me.png')
  })
})
