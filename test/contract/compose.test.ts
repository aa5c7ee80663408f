import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { EnvSchema } from '../../src/platform/env-schema.ts'
import { version } from '../../src/version.ts'

const compose = parse(readFileSync('compose.yaml', 'utf8'))
const dockerfile = readFileSync('Dockerfile', 'utf8')
/** Variables that the image sets, and those for development. */
const others = ['DATA_DIR', 'DEMO', 'HOST', 'NEON_LOCAL_PROXY', 'PORT', 'QSTASH_DEV']

describe('compose.yaml and Dockerfile', () => {
  it('let every variable of the panel come from `.env`', () => {
    const passed = Object.keys(compose.services.panel.environment)
    const variables = Object.keys(EnvSchema().shape).filter((name) => !others.includes(name))
    expect(variables.length).toBeGreaterThan(30)
    expect(variables.filter((name) => !passed.includes(name))).toEqual([])
  })

  it('name the same images, by what they contain, and this version', () => {
    const { args } = compose.services.panel.build
    for (const name of ['NODE_IMAGE', 'BASE_IMAGE']) {
      const [, image] = new RegExp(`^ARG ${name}=(\\S+@sha256:[0-9a-f]{64})$`, 'm').exec(dockerfile) ?? []
      expect(args[name]).toBe(`\${${name}:-${image}}`)
    }
    expect(dockerfile).toContain(`\nARG VERSION=${version}\n`)
  })
})
