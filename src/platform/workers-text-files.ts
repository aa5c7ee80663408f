import { env } from 'cloudflare:workers'
import { fetchedTexts } from '../adapters/texts.ts'

/** The texts among the static assets, where `npm run build` puts them; the host of their address says nothing. */
export const workersTextFiles = fetchedTexts(
  (address) => env.ASSETS.fetch(address),
  'https://assets.local/texts/',
)
