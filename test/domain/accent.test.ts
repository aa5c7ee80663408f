import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accentStyle, contrast, deriveAccent, minContrast } from '../../src/domain/appearance/accent.ts'
import { generatedRuns, generatedSeed } from '../support/generated-runs.ts'

const css = readFileSync(new URL('../../src/web/app.css', import.meta.url), 'utf8')
const [light = '', dark = ''] = css.split("[data-theme='dark'] {")
const tokensOf = (rules: string) =>
  ['canvas', 'surface', 'raised'].map(
    (name) => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(rules)?.[1] ?? '',
  )

const hex = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)
const extremes = ['#000000', '#ffffff', '#808080', '#ffff00', '#0000ff', '#00ff00', '#ff00ff', '#7f7f7f']

describe('the colours of an accent', () => {
  it('are readable in both themes, on every background and on themselves, for any colour', () => {
    const areReadable = (accent: string) => {
      const colours = deriveAccent(accent)
      for (const [theme, rules] of [
        ['light', light],
        ['dark', dark],
      ] as const) {
        const { brand, ink, soft } = colours[theme]
        for (const background of [...tokensOf(rules), soft])
          expect(contrast(brand, background), `${accent} in ${theme}`).toBeGreaterThanOrEqual(minContrast)
        expect(contrast(ink, brand), `${accent} in ${theme}`).toBeGreaterThanOrEqual(minContrast)
      }
    }
    for (const accent of extremes) areReadable(accent)
    fc.assert(fc.property(hex, areReadable), {
      numRuns: generatedRuns({ few: 500, all: 20_000 }),
      ...generatedSeed(),
    })
  })

  it('stay as they are where they can be read', () => {
    expect(deriveAccent('#0c6b58').light.brand).toBe('#0c6b58')
    expect(deriveAccent('#3cc9a5').dark.brand).toBe('#3cc9a5')
    expect(deriveAccent('#ffcc00').light.brand).not.toBe('#ffcc00')
  })

  it('are a style sheet of the tokens of the application', () => {
    expect(accentStyle('#0c6b58')).toMatch(
      /^:root\{--brand:#0c6b58;--brand-text:#0c6b58;--brand-ink:#ffffff;--brand-soft:#[0-9a-f]{6}\}:root\[data-theme='dark'\]\{--brand:/,
    )
  })
})
