import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const programs = {
  daemon: fileURLToPath(new URL('../../src/platform/local/daemon/main.ts', import.meta.url)),
  qstash: fileURLToPath(new URL('../../src/platform/local/qstash/main.ts', import.meta.url)),
}

const run = (name: keyof typeof programs, ...words: string[]) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [programs[name], ...words], (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr })
    })
  })

describe.each(['daemon', 'qstash'] as const)('npm run %s', (name) => {
  it('says how it is used', async () => {
    const { code, stdout } = await run(name, '--help')
    expect(stdout).toContain(`Usage: npm run ${name} -- `)
    expect(code).toBe(0)
  })

  it('answers words it does not know with its usage', async () => {
    const { code, stdout, stderr } = await run(name, '--fast')
    expect(stderr).toMatch(new RegExp(`^Unknown option '--fast'.*\n\nUsage: npm run ${name} -- `))
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })
})

describe('npm run qstash', () => {
  it.each(['x', '65536', '-1'])('refuses the port %s', async (port) => {
    const { code, stderr } = await run('qstash', `--port=${port}`)
    expect(stderr).toContain(`--port ${port} is no port.\n\nUsage: `)
    expect(code).toBe(2)
  })

  it('says in one line that somebody else has its port', async () => {
    const other = createServer()
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const { port } = other.address() as AddressInfo
    const { code, stderr } = await run('qstash', '--port', String(port))
    other.close()
    expect(stderr).toBe(`listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`)
    expect(code).toBe(1)
  })
})
