import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportEgg } from '../../src/domain/eggs/export.ts'
import { parseEgg } from '../../src/domain/eggs/parse.ts'
import { validateVariable } from '../../src/domain/eggs/rules.ts'
import { daemonConfiguration } from '../../src/domain/servers/configuration.ts'
import { eggRow, serverRow, serverRows, variableRow } from './server-rows.ts'

const folder = new URL('../../drizzle/eggs/', import.meta.url).pathname
const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'))
const files = globSync('*/*.json', { cwd: folder }).toSorted()
/** Variables without a possible default: the creator of the server must set them. */
const givenByUser = new Set([
  'steam/valheim.json PASSWORD',
  'steam/rust.json RCON_PASS',
  'steam/generic-steamcmd.json SRCDS_APPID',
  'steam/generic-steamcmd.json START_FILE',
])

describe('shipped eggs', () => {
  it('are the games promised, in the nests listed', () => {
    expect(files).toEqual([
      'applications/demo.json',
      'applications/nodejs.json',
      'minecraft/bedrock.json',
      'minecraft/paper.json',
      'minecraft/vanilla.json',
      'minecraft/velocity.json',
      'sandbox/factorio.json',
      'sandbox/terraria.json',
      'steam/counter-strike-2.json',
      'steam/generic-steamcmd.json',
      'steam/rust.json',
      'steam/valheim.json',
    ])
    const nests = read('nests.json') as { slug: string; name: string; description: string }[]
    expect(nests.map((nest) => nest.slug).toSorted()).toEqual([
      ...new Set(files.map((file) => file.split('/')[0])),
    ])
    for (const nest of nests) expect([nest.name, nest.description]).not.toContain('')
  })

  it('declare the local runtime where their scripts leave the machine alone', async () => {
    const parsed = await Promise.all(files.map((file) => parseEgg(read(file))))
    const declaring = files.filter((_, at) => parsed[at]?.egg.features?.includes('local_runtime'))
    expect(declaring).toEqual(['applications/demo.json', 'applications/nodejs.json'])
  })

  for (const file of files) {
    describe(file, async () => {
      const { egg, variables, warnings } = await parseEgg(read(file))

      it('parses without warnings and comes back from an export', async () => {
        expect(warnings).toEqual([])
        expect(egg.author).toBe('eggs@roost.example')
        expect(await parseEgg(exportEgg(egg, variables, new Date(0)))).toMatchObject({
          egg,
          variables,
          warnings: [],
        })
      })

      it('has defaults that satisfy their own rules, or that the user must give', async () => {
        for (const { envVariable, rules, defaultValue } of variables) {
          const failures = (await validateVariable(rules, defaultValue)).map((failure) => failure.rule)
          const isGiven = givenByUser.has(`${file} ${envVariable}`)
          expect(failures, `${envVariable} ${rules}`).toEqual(isGiven ? ['required'] : [])
        }
      })

      it('starts with variables it defines or the daemon sets', () => {
        const known = new Set([
          ...variables.map((each) => each.envVariable),
          'SERVER_PORT',
          'SERVER_MEMORY',
          'SERVER_IP',
        ])
        const used = [...egg.startup.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1] ?? '')
        expect(used.filter((name) => !known.has(name))).toEqual([])
      })

      it('gives the daemon files without unresolved or empty placeholders for known values', () => {
        const server = serverRow({
          variables: Object.fromEntries(variables.map((each) => [each.envVariable, 'VALUE'])),
        })
        const rows = variables.map((each) => variableRow(each.envVariable, each))
        const made = daemonConfiguration(
          serverRows({ server, egg: eggRow(egg), variables: rows }),
        ).process_configuration
        expect(made.startup.done.length).toBeGreaterThan(0)
        expect(made.stop.value).not.toBe('')
        for (const { replace_with: text } of made.configs.flatMap((config) => config.replace)) {
          expect(text).not.toBe('')
          expect(text).not.toMatch(/\{\{|=$/)
        }
      })

      it('has an install script its shell can read', () => {
        expect(() => execFileSync(egg.scriptEntry, ['-n'], { input: egg.scriptInstall ?? '' })).not.toThrow()
      })
    })
  }
})

describe('the Node.js egg', () => {
  it('calls no package manager of the machine in the local runtime', async () => {
    const { egg } = await parseEgg(read('applications/nodejs.json'))
    const folder = mkdtempSync(join(tmpdir(), 'nodejs-egg-'))
    try {
      const [programs, server] = [join(folder, 'programs'), join(folder, 'a server')]
      mkdirSync(programs)
      for (const name of ['apt-get', 'git']) {
        writeFileSync(join(programs, name), `#!/bin/sh\ntouch "${folder}/called"\n`, { mode: 0o755 })
      }
      const install = (variables: Record<string, string>) =>
        execFileSync('bash', [], {
          input: (egg.scriptInstall ?? '').replaceAll('/mnt/server', server),
          env: { PATH: `${programs}:${process.env.PATH}`, MAIN_FILE: 'index.js', ...variables },
        })
      install({ LOCAL_RUNTIME: '1' })
      expect(readdirSync(server)).toEqual(['index.js'])
      expect(existsSync(join(folder, 'called'))).toBe(false)
      install({})
      expect(existsSync(join(folder, 'called'))).toBe(true)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('the demo egg', () => {
  it('installs and runs a program that answers commands and stops', async () => {
    const { egg, variables } = await parseEgg(read('applications/demo.json'))
    const home = mkdtempSync(join(tmpdir(), 'demo-egg-'))
    try {
      execFileSync('sh', [], { cwd: home, input: egg.scriptInstall ?? '' })
      const environment = Object.fromEntries(variables.map((each) => [each.envVariable, each.defaultValue]))
      const command = egg.startup
        .replace(/^node/, `"${process.execPath}"`)
        .replaceAll('{{', '${')
        .replaceAll('}}', '}')
      const child = spawn('sh', ['-c', `exec ${command}`], {
        cwd: home,
        env: { ...environment, SERVER_PORT: '25570', MOTD: 'Good day' },
      })
      let output = ''
      child.stdout.on('data', (chunk: Buffer) => {
        if (output === '') child.stdin.write('say hello there\nlist\nwhat\nstop\n')
        output += chunk.toString()
      })
      const [code] = await once(child, 'close')
      expect(code).toBe(0)
      for (const text of [
        'Message of the day: Good day',
        'Demo world ready on port 25570',
        '[Server] hello there',
        '0 of 20 players online',
        'Unknown command what',
      ]) {
        expect(output).toContain(text)
      }
      expect(readFileSync(join(home, 'server.properties'), 'utf8')).toContain('server-port=')
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })
})
