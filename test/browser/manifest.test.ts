import { readFile } from 'node:fs/promises'
import { imageSize } from 'image-size'
import { describe, expect, it } from 'vitest'
import { settings } from '../../src/db/schema.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const fileOf = (path: string) => readFile(new URL(`../../src/web/public${path}`, import.meta.url))

describe('GET /manifest.webmanifest', () => {
  it('describes the application by the name of the panel, for browsers that come without cookies', async () => {
    await world.services.db.insert(settings).values({ key: 'panel.name', value: 'Nest & Co' })
    const answer = await world.request('GET', '/manifest.webmanifest')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/manifest+json')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=3600')
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(JSON.parse(answer.text)).toMatchObject({
      name: 'Nest & Co',
      short_name: 'Nest & Co',
      start_url: '/',
      scope: '/',
      display: 'standalone',
    })
  })

  it('names icons that are files of the size it says, as browsers demand before they install', async () => {
    const { text } = await world.request('GET', '/manifest.webmanifest')
    const icons = JSON.parse(text).icons as { src: string; sizes: string; type: string; purpose: string }[]
    for (const { src, sizes, type } of icons) {
      const { width, height } = imageSize(await fileOf(src))
      expect([`${width}x${height}`, type], src).toEqual([sizes, 'image/png'])
    }
    expect(icons.map(({ sizes, purpose }) => `${sizes} ${purpose}`)).toEqual([
      '192x192 any',
      '512x512 any',
      '512x512 maskable',
    ])
  })

  it('is named by every page, beside the icons and the colour of the theme', async () => {
    const { text } = await world.request('GET', '/auth/login')
    expect(text).toContain('<link rel="manifest" href="/manifest.webmanifest" />')
    expect(text).toContain('<link rel="apple-touch-icon" href="/apple-touch-icon.png" />')
    expect(text).toContain('<meta name="theme-color" content="#ffffff" />')
  })
})

describe('robots.txt', () => {
  it('keeps robots away', async () => {
    expect(await fileOf('/robots.txt').then(String)).toBe('User-agent: *\nDisallow: /\n')
  })
})
