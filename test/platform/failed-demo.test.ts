import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { locations, nodes, servers, users } from '../../src/db/schema.ts'
import { isSetupDue } from '../../src/domain/setup/code.ts'
import { createChosenDemo } from '../../src/platform/local/demo.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()

it('a demo that fails halfway leaves no account, so that the set-up can begin again', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'roost-demo-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const closed: string[] = []
  const options = {
    directory,
    log: () => undefined,
    onDaemon: ({ url, close }: { url: string; close: () => Promise<void> }) => {
      closed.push(url)
      void close()
      throw new Error('The daemon is not wanted.')
    },
  }
  await expect(createChosenDemo(world.panel, options)).rejects.toThrow('The daemon is not wanted.')
  expect(closed).toHaveLength(1)
  for (const table of [users, nodes, locations, servers])
    expect(await world.database.db.$count(table)).toBe(0)
  expect(await isSetupDue(world.panel)).toBe(true)
})
