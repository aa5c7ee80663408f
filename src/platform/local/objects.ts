import { createHmac, timingSafeEqual } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Hono } from 'hono'
import type { ObjectStore } from '../../adapters/objects.ts'

const keyPattern = /^[\w-]+(\/[\w.-]+)*$/

/** Objects as files of a folder, read through links which the panel signs, and the app that answers those links. */
export function diskObjects(options: { directory: string; url: () => string; secret: string }): {
  store: ObjectStore
  app: Hono
} {
  const pathOf = (key: string) => {
    if (!keyPattern.test(key) || key.split('/').includes('..'))
      throw new Error('An object key has characters it may not have.')
    return join(options.directory, key)
  }
  const sign = (key: string, expires: number) =>
    createHmac('sha256', options.secret).update(`${key}\n${expires}`).digest('hex')
  const store: ObjectStore = {
    put: async (key, body, contentType) => {
      await mkdir(dirname(pathOf(key)), { recursive: true })
      await writeFile(pathOf(key), body)
      await writeFile(`${pathOf(key)}.type`, contentType)
    },
    signedUrl: async (key, seconds) => {
      const expires = Math.floor(Date.now() / 1000) + seconds
      return `${options.url()}/objects/${key}?expires=${expires}&signature=${sign(key, expires)}`
    },
    remove: async (key) => {
      await rm(pathOf(key), { force: true })
      await rm(`${pathOf(key)}.type`, { force: true })
    },
    ping: async () => void (await mkdir(options.directory, { recursive: true })),
  }
  return { store, app: objectsApp(pathOf, sign) }
}

function objectsApp(pathOf: (key: string) => string, sign: (key: string, expires: number) => string): Hono {
  return new Hono().get('/objects/*', async (c) => {
    const key = decodeURIComponent(c.req.path.slice('/objects/'.length))
    const expires = Number(c.req.query('expires'))
    const given = Buffer.from(c.req.query('signature') ?? '', 'hex')
    const expected = Buffer.from(sign(key, expires), 'hex')
    const valid = given.length === expected.length && timingSafeEqual(given, expected)
    if (!valid || !(expires * 1000 > Date.now())) return c.text('This link is not valid, or no longer.', 403)
    try {
      const [content, contentType] = await Promise.all([
        readFile(pathOf(key)),
        readFile(`${pathOf(key)}.type`, 'utf8'),
      ])
      return c.body(new Uint8Array(content), 200, {
        'content-type': contentType,
        'x-content-type-options': 'nosniff',
      })
    } catch {
      return c.text('There is no such object.', 404)
    }
  })
}
