import * as z from 'zod'
import type { Accent } from '../../../domain/appearance/accent.ts'
import { logoPath } from '../../../domain/appearance/appearance.ts'
import { resource } from '../../../http/resource.ts'

/** A logo that was uploaded. */
export const LogoResource = resource(
  'logo',
  () => z.object({ name: z.string(), path: z.string() }),
  (name: string) => ({ name, path: logoPath(name) }),
)

const Colours = () => z.object({ brand: z.string(), ink: z.string(), soft: z.string() })

/** The colours that both themes make of an accent. */
export const AccentResource = resource(
  'accent',
  () => z.object({ light: Colours(), dark: Colours() }),
  (accent: Accent) => accent,
)
