import { inject } from 'vitest'
import { type Engine, engineIn } from './engine.ts'
import type { Images } from './images.ts'

/** Returns the Docker of the tier and its images; null, with a line that names what is skipped, where there is none. */
export function findContainers(skipped: string): { engine: Engine; images: Images } | null {
  const containers = inject('containers')
  if (typeof containers !== 'string')
    return { engine: engineIn(containers.folder), images: containers.images }
  console.warn(`Skipped: ${skipped}: ${containers}.`)
  return null
}
