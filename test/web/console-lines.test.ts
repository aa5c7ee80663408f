import { describe, expect, it } from 'vitest'
import { ConsoleLog } from '../../src/web/server/console/console-log.ts'
import { levelOf, ownLevel } from '../../src/web/server/console/line-level.ts'
import { pathsIn } from '../../src/web/server/console/paths-in-text.ts'
import type { ConsoleSocket, SocketEvent } from '../../src/web/server/console-socket.ts'

describe('the level of a line', () => {
  it.each([
    ['[12:00:00 INFO]: <Bob> there is an ERROR in my house', 'info'],
    ['[12:00:00] [Server thread/WARN]: Can’t keep up!', 'warn'],
    ['[12:00:00] [main/ERROR] [minecraft/Main]: Failed to start', 'error'],
    ['[12:00:00] [Server thread/FATAL]: Preparing crash report', 'error'],
    ['2026-03-01 12:00:00.000 SEVERE [main] org.bukkit', 'error'],
    ['[warning] something', 'warn'],
    ['error: no such file', 'error'],
    ['WARNING: An illegal reflective access operation has occurred', 'warn'],
    ['Exception in thread "main" java.lang.RuntimeException', 'error'],
    ['Traceback (most recent call last):', 'error'],
    ['There was an error loading the map', 'info'],
    ['Steve joined the game', 'info'],
    ['', 'info'],
  ])('is found in %j', (line, level) => expect(ownLevel(line)).toBe(level))

  it('of a stack trace is that of the line before it', () => {
    for (const line of [
      '\tat net.minecraft.server.Main.main(Main.java:12) ~[server.jar:?]',
      'java.lang.NullPointerException: Cannot invoke',
      'Caused by: java.io.IOException: broken pipe',
      '\t... 12 more',
    ]) {
      expect(ownLevel(line), line).toBeNull()
      expect([levelOf(line, 'warn'), levelOf(line, 'error'), levelOf(line, 'info')]).toEqual([
        'warn',
        'error',
        'error',
      ])
    }
  })
})

describe('the paths in a text', () => {
  const paths = (text: string) =>
    pathsIn(text).map(({ path, start, end }) => [path, text.slice(start, end)] as const)

  it('are files below the root of the server that the editor opens', () => {
    expect(paths('Loading server.properties and ./plugins/My-Plugin/config.yml:12')).toEqual([
      ['/server.properties', 'server.properties'],
      ['/plugins/My-Plugin/config.yml', './plugins/My-Plugin/config.yml'],
    ])
    expect(paths('saved to: /home/container/crash-reports/crash-2026-03-01_12.00.00-server.txt')).toEqual([
      [
        '/crash-reports/crash-2026-03-01_12.00.00-server.txt',
        '/home/container/crash-reports/crash-2026-03-01_12.00.00-server.txt',
      ],
    ])
    expect(paths('(config.toml)')).toEqual([['/config.toml', 'config.toml']])
  })

  it('are no addresses, archives, classes, or files elsewhere', () => {
    for (const text of [
      'see https://example.com/help.html',
      'at net.minecraft.Main.main(Main.java:12)',
      'loading world.zip and server.jar',
      'could not read /etc/passwd.conf',
      'reading ../../secret.yml',
      'version 1.21.4',
    ])
      expect(paths(text), text).toEqual([])
  })
})

describe('the log', () => {
  /** A log that follows a socket, and what the socket says. */
  function makeLog() {
    const log = new ConsoleLog()
    let emit: (event: SocketEvent) => void = () => undefined
    log.follow({
      onEvent: (listener: (event: SocketEvent) => void) => {
        emit = listener
        return () => undefined
      },
    } as unknown as ConsoleSocket)
    return {
      log,
      print: (...lines: string[]) => lines.forEach((line) => emit({ event: 'console output', args: [line] })),
    }
  }

  it('gives the lines of chosen levels, and counts all of them', () => {
    const { log, print } = makeLog()
    print('[WARN]: a', '\u001b[31m[ERROR]: b\u001b[0m', 'java.lang.Error: c', 'd')
    const { lines, next } = log.since(0, new Set(['error']))
    expect(lines.map(({ text }) => text)).toEqual(['\u001b[31m[ERROR]: b\u001b[0m', 'java.lang.Error: c'])
    expect(next).toBe(4)
    expect(log.counts()).toEqual({ info: 1, warn: 1, error: 2 })
    log.clear()
    expect(log.counts()).toEqual({ info: 0, warn: 0, error: 0 })
  })

  it('forgets the levels of lines that it drops', () => {
    const { log, print } = makeLog()
    print('[ERROR]: first')
    print(...Array.from({ length: 10_000 }, () => 'line'))
    expect(log.counts()).toEqual({ info: log.since(0).lines.length, warn: 0, error: 0 })
  })
})
