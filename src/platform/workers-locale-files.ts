import { env } from 'cloudflare:workers'
import { fetchLocaleFiles } from '../adapters/locales.ts'

/** Reads the locales from the static assets, where `npm run build` puts them; the host of the URL is ignored. */
export const workersLocaleFiles = fetchLocaleFiles(
  (address) => env.ASSETS.fetch(address),
  'https://assets.local/texts/',
)
