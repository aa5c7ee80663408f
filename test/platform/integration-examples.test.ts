import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { WebSocketServer } from 'ws'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/integrations.md'), 'utf8')
const [javascript = '', python = '', go = ''] = ['js', 'python', 'go'].map(
  (language) => page.split(`\`\`\`${language}\n`)[1]?.split('```')[0],
)
const documented = 'https://panel.example.com'

/** Opens a panel and a daemon on one port: the daemon refuses other origins than the panel's with 403, as Wings does. */
async function openPanel() {
  const server = createServer((request, response) => {
    const isAllowed = request.headers.authorization === 'Bearer ptlc_key'
    response.writeHead(isAllowed ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ data: { token: 'console token', socket: `ws://127.0.0.1:${port}/ws` } }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const received: { event: string; args: string[] }[] = []
  const sockets = new WebSocketServer({
    server,
    verifyClient: (info: { origin: string }) => info.origin === origin,
  })
  sockets.on('connection', (socket) => {
    const send = (event: string, ...args: string[]) => socket.send(JSON.stringify({ event, args }))
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { event: string; args: string[] }
      received.push(message)
      if (message.event === 'auth') send(received.length === 1 ? 'auth success' : 'console output', 'renewed')
      if (message.event === 'send logs') send('token expiring')
    })
  })
  return { origin, received, close: () => (sockets.close(), server.close(), server.closeAllConnections()) }
}

it('the console example connects with the origin of the panel, and renews its token', async () => {
  const panel = await openPanel()
  const code = javascript.replaceAll(documented, panel.origin)
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: root,
    env: { PATH: process.env.PATH, KEY: 'ptlc_key', SERVER: 'server' },
  })
  try {
    const [output] = (await once(child.stdout, 'data')) as [Buffer]
    expect(output.toString()).toBe('renewed\n')
    const auth = { event: 'auth', args: ['console token'] }
    expect(panel.received).toEqual([auth, { event: 'send logs', args: [] }, auth])
  } finally {
    child.kill()
    panel.close()
  }
})

it('every example sends the origin without a slash at its end', () => {
  expect(javascript).toContain(`const panel = '${documented}'`)
  expect(javascript).toContain('{ origin: panel }')
  expect(python).toContain(`panel = '${documented}'`)
  expect(python).toContain('origin=panel')
  expect(go).toContain(`const panel = "${documented}"`)
  expect(go).toContain('http.Header{"Origin": {panel}}')
})
