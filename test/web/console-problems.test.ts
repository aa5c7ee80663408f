import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import texts from '../../src/locales/en/helpers.json' with { type: 'json' }
import problems from '../../src/web/server/console/helpers/problems.json' with { type: 'json' }
import {
  imageForJava,
  moreSpecific,
  type Problem,
  recogniseProblem,
} from '../../src/web/server/console/helpers/recognise.ts'
import { ProblemWatch } from '../../src/web/server/console/helpers/problem-watch.ts'
import { ConsoleLog, plainText } from '../../src/web/server/console/console-log.ts'
import type { ConsoleSocket, SocketEvent } from '../../src/web/server/console-socket.ts'

const folder = new URL('console-logs/', import.meta.url)

/** What the console shows of a recorded log, from its first line to its last. */
const problemIn = (file: string) =>
  readFileSync(new URL(file, folder), 'utf8')
    .split('\n')
    .map((line) => recogniseProblem(plainText(line)))
    .reduce<Problem | null>((shown, next) => (next ? moreSpecific(shown, next) : shown), null)

/** Each recorded log with the problem in it, the version of Java that it needs, and the file that says more. */
const expected: Record<string, [name: string, more?: number | string] | null> = {
  'paper-eula.txt': ['eula'],
  'bundler-old-java.txt': ['java_version', 21],
  'paper-old-java.txt': ['java_version', 17],
  'paper-port-in-use.txt': ['port_in_use'],
  'node-port-in-use.txt': ['port_in_use'],
  'wings-disk-full.txt': ['disk_full'],
  'forge-out-of-memory.txt': ['out_of_memory'],
  'wings-killed.txt': ['out_of_memory'],
  'forge-crash.txt': ['crash_report', '/crash-reports/crash-2026-03-01_21.15.02-server.txt'],
  'jvm-crash.txt': ['crash_report', '/hs_err_pid21.log'],
  'source-crash.txt': ['crash'],
  'paper-healthy.txt': null,
  'paper-wrong-address.txt': ['wrong_address'],
  'forge-wrong-address.txt': ['wrong_address'],
  'source-wrong-address.txt': ['wrong_address'],
  'goldsrc-port-in-use.txt': ['port_in_use'],
  'source-port-in-use.txt': ['port_in_use'],
  'bedrock-port-in-use.txt': ['port_in_use'],
  'terraria-port-in-use.txt': ['port_in_use'],
  'rust-port-in-use.txt': ['port_in_use'],
  'fabric-old-java.txt': ['java_version', 21],
  'vanilla-very-old-java.txt': ['java_version', 8],
  'steamcmd-disk-full.txt': ['disk_full'],
  'terraria-disk-full.txt': ['disk_full'],
  'paper-thread-limit.txt': ['thread_limit'],
  'source-steam-token.txt': ['steam_token'],
  'valheim-crash.txt': ['crash'],
  'srcds-restarting.txt': ['crash'],
  'paper-hangs.txt': ['crash'],
  'vanilla-hangs.txt': ['crash_report', '/crash-reports/crash-2026-03-01_13.14.12-server.txt'],
  'dotnet-crash.txt': ['crash'],
  // What only looks like a problem.
  'steamcmd-network.txt': null,
  'valheim-stopped.txt': null,
  'paper-slow-tick.txt': null,
  'chat-about-problems.txt': null,
}

describe('the problem of a recorded log', () => {
  it.each(readdirSync(folder))('is recognised: %s', (file) => {
    const found = problemIn(file)
    const wanted = expected[file]
    expect(wanted, 'the log has an expectation').not.toBeUndefined()
    expect(found && [found.name, ...[found.java ?? found.file ?? []].flat()]).toEqual(wanted)
  })

  it('has a text and a name for whatever it offers', () => {
    const groups = texts as Record<string, unknown>
    for (const { name, actions } of problems) {
      expect(groups[name], name).toMatchObject({ title: expect.any(String), text: expect.any(String) })
      for (const action of actions)
        if (action !== 'restart') expect(texts.action, action).toHaveProperty(action)
    }
    expect(new Set(Object.values(expected).flatMap((each) => each?.[0] ?? []))).toEqual(
      new Set(problems.map(({ name }) => name)),
    )
  })
})

describe('the image for a version of Java', () => {
  const images = {
    'Java 8': 'ghcr.io/pterodactyl/yolks:java_8',
    'Java 21': 'ghcr.io/pterodactyl/yolks:java_21',
    'Java 17': 'ghcr.io/pterodactyl/yolks:java_17',
    Other: 'ghcr.io/example/other:latest',
  }

  it('is the one that has it, or the next newer one', () => {
    expect(imageForJava(images, 17)).toEqual({ java: 17, image: images['Java 17'] })
    expect(imageForJava(images, 11)).toEqual({ java: 17, image: images['Java 17'] })
    expect(imageForJava(images, 25)).toBeNull()
    expect(imageForJava({ Other: images.Other }, 8)).toBeNull()
  })
})

describe('the problem that a console shows', () => {
  const portInUse = '[20:44:31 WARN]: **** FAILED TO BIND TO PORT!'

  /** Watches a console that has printed some lines, and counts how often it says that something has changed. */
  function watch(...printed: string[]) {
    const listeners = new Set<(event: SocketEvent) => void>()
    const socket = {
      onEvent: (listener: (event: SocketEvent) => void) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    } as unknown as ConsoleSocket
    const say = (event: string, text: string) => {
      for (const listener of listeners) listener({ event, args: [text] })
    }
    const log = new ConsoleLog()
    log.follow(socket)
    for (const line of printed) say('console output', line)
    const problems = new ProblemWatch(socket, log)
    const changes: (string | null)[] = []
    problems.subscribe(() => changes.push(problems.problem()?.name ?? null))
    return { problems, changes, say }
  }

  it('is that of the lines before, and goes when the server starts again', () => {
    const { problems, changes, say } = watch(portInUse)
    expect(problems.problem()?.name).toBe('port_in_use')
    say('status', 'starting')
    say('console output', portInUse)
    say('console output', portInUse)
    say('console output', 'container@pterodactyl~ Server marked as starting...')
    expect(changes).toEqual(['port_in_use', null, 'port_in_use', null])
    expect(watch(portInUse, 'container~ Server marked as starting...').problems.problem()).toBeNull()
  })

  it('is none that keeps a server from starting once it runs: a plugin has its own ports', () => {
    const { problems, changes, say } = watch(
      'container~ Server marked as starting...',
      '[20:44:29 ERROR]: [Votifier] Votifier was not able to bind to 0.0.0.0:8192: Address already in use',
    )
    expect(problems.problem()?.name).toBe('port_in_use')
    say('status', 'running')
    say('console output', portInUse)
    say('console output', 'java.io.IOException: No space left on device')
    say('console output', 'container~ Server marked as offline...')
    say('status', 'starting')
    say('console output', portInUse)
    expect(changes).toEqual(['port_in_use', null, 'disk_full', null, 'port_in_use'])
  })

  it('stays hidden once it is dismissed, until the server starts again', () => {
    const { problems, changes, say } = watch(portInUse)
    problems.dismiss()
    say('console output', portInUse)
    expect(problems.problem()).toBeNull()
    say('console output', 'java.lang.OutOfMemoryError: Java heap space')
    say('status', 'starting')
    say('console output', portInUse)
    expect(changes).toEqual(['port_in_use', null, 'out_of_memory', null, 'port_in_use'])
  })
})
