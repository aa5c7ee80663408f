import type { TestProject } from 'vitest/node'
import { openEngine } from './engine.ts'
import { buildImages, buildPanel, type Images } from './images.ts'

/** The Docker that all files of the tier share, with the image of the panel; the reason where there can be none. */
export type Containers = { folder: string; images: Images } | string

declare module 'vitest' {
  interface ProvidedContext {
    containers: Containers
  }
}

/** Starts Docker and builds every image once. Throws when the image of the panel cannot be built. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const engine = await openEngine()
  if (typeof engine === 'string') {
    project.provide('containers', engine)
    return undefined
  }
  try {
    const images = await buildImages(engine).catch(
      (error: unknown) => `the images below the panel cannot be built: ${String(error)}`,
    )
    if (typeof images !== 'string') await buildPanel(engine, images)
    project.provide('containers', typeof images === 'string' ? images : { folder: engine.folder, images })
  } catch (error) {
    await engine.stop()
    throw error
  }
  return engine.stop
}
