import { OperationError } from '../faults.ts'

const routePattern = /pattern = "([^"/]+)(\/[^"]*)", zone_name = "([^"]+)"/g

/** Returns the host of the first route in the text of a `wrangler.toml`. Throws when it has no routes. */
export function routedHost(toml: string): string {
  const host = toml.matchAll(routePattern).next().value?.[1]
  if (host === undefined) throw new OperationError('This wrangler.toml has no routes.')
  return host
}

/**
 * Replaces host and zone in each route of the panel's host; routes of other hosts, such as those of regions, stay. Throws
 * when the host is outside the zone.
 */
export function replaceRoutes(toml: string, host: string, zone: string): string {
  if (host !== zone && !host.endsWith(`.${zone}`))
    throw new OperationError(`${host} is not in the zone ${zone}: use its zone at Cloudflare.`)
  const before = routedHost(toml)
  return toml.replaceAll(routePattern, (match, found: string, path: string) =>
    found === before ? `pattern = "${host}${path}", zone_name = "${zone}"` : match,
  )
}
