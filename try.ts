import { spawn } from 'node:child_process'
import { createDatabase } from './test/support/database.ts'
import { seedBench } from './test/bench/seed.ts'
import fs from 'node:fs'
const db = await createDatabase()
const s = await seedBench(db.url)
fs.mkdirSync('/tmp/prof', { recursive: true })
for (const f of fs.readdirSync('/tmp/prof')) fs.rmSync('/tmp/prof/' + f)
const child = spawn(
  process.execPath,
  ['--cpu-prof', '--cpu-prof-dir=/tmp/prof', 'test/bench/server.ts', db.url],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
const port = await new Promise((r) =>
  child.stdout.on('data', (d) => r(/listening (\d+)/.exec(String(d))![1])),
)
const path = process.argv[2] ?? '/api/client?per_page=50'
const token = path.includes('remote') ? s.nodeToken : s.clientToken
const t0 = Date.now()
let n = 0
const w = async () => {
  while (Date.now() - t0 < 6000) {
    const r = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    await r.arrayBuffer()
    n++
  }
}
await Promise.all([w(), w(), w(), w()])
console.log('req/s', n / 6)
child.kill('SIGINT')
await new Promise((r) => child.once('exit', r))
const f = fs.readdirSync('/tmp/prof')[0]
if (f) {
  const p = JSON.parse(fs.readFileSync('/tmp/prof/' + f, 'utf8'))
  const self = new Map()
  const dt = p.timeDeltas
  const byId = new Map(p.nodes.map((x) => [x.id, x]))
  p.samples.forEach((id, i) => {
    const nd = byId.get(id)
    const k = `${nd.callFrame.functionName} ${nd.callFrame.url.split('/').slice(-3).join('/')}:${nd.callFrame.lineNumber}`
    self.set(k, (self.get(k) ?? 0) + dt[i])
  })
  const tot = [...self.values()].reduce((a, b) => a + b, 0)
  for (const [k, v] of [...self].sort((a, b) => b[1] - a[1]).slice(0, 25))
    console.log(((v / tot) * 100).toFixed(1) + '%', k)
}
await db.drop()
