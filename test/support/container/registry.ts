import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../processes.ts'
import type { Engine } from './engine.ts'
import { importImage, unpack } from './images.ts'

/** A registry of images on this machine. */
export type Registry = {
  /** Pushes an image, removes it here, and returns the name by which its digest names it. */
  publish: (image: string) => Promise<string>
  close: () => Promise<void>
}

const name = 'registry'
const config = `version: 0.1
storage: { filesystem: { rootdirectory: /var/lib/registry } }
http: { addr: ':5000' }
`

/** Starts the registry of Debian. */
export async function openRegistry(engine: Engine): Promise<Registry> {
  const root = await unpack(engine, name, ['base-files', 'docker-registry'])
  await writeFile(join(root, 'config.yml'), config)
  const start = ['docker-registry', 'serve', '/config.yml']
  await importImage(engine, root, 'test/registry', [`CMD ${JSON.stringify(start)}`])
  await engine.docker('run', '-d', '--name', name, '-p', '127.0.0.1:0:5000', 'test/registry')
  const address = (await engine.docker('port', name, '5000')).trim()
  await eventually(() =>
    fetch(`http://${address}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return {
    publish: async (image) => {
      const tag = `${address}/${image}:pinned`
      await engine.docker('tag', image, tag)
      const pushed = await engine.docker('push', tag)
      const [digest] = /sha256:[0-9a-f]{64}/.exec(pushed) ?? []
      if (digest === undefined) throw new Error(`The registry told no digest:\n${pushed}`)
      await engine.docker('rmi', tag)
      return `${address}/${image}@${digest}`
    },
    close: async () => void (await engine.docker('rm', '-f', '-v', name)),
  }
}
