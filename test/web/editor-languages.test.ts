import { describe, expect, it } from 'vitest'
import { languageOf } from '../../src/web/server/editor/languages.ts'

const languageName = async (name: string, firstLine?: string) =>
  (await languageOf(name, firstLine)?.())?.language.name ?? null

describe('the language of a file', () => {
  it.each([
    'server.properties',
    'config.yml',
    'velocity.toml',
    'ops.json',
    'game.ini',
    'Plugin.java',
    'main.lua',
    'start.sh',
    'build.gradle',
    'Main.kt',
    'Dockerfile',
    '.env.local',
    '.bashrc',
  ])('is known for %s', async (name) => {
    expect((await languageOf(name)?.())?.language).toBeDefined()
  })

  it('follows the first line of a file without an ending', async () => {
    expect(await languageName('launcher', '#!/bin/sh')).toBe('shell')
    expect(await languageName('launcher', '#!/usr/bin/env python3')).toBe('python')
    expect(await languageName('launcher', '#!/usr/bin/env node')).toBe('javascript')
    expect(await languageName('launcher', 'sh')).toBeNull()
    expect(await languageName('config.yml', '#!/bin/sh')).toBe('yaml')
  })

  it('is plain text for what it does not know', async () => {
    for (const name of ['latest.log', 'eula.txt', 'README', 'toString', 'json'])
      expect(await languageName(name), name).toBeNull()
  })
})
