import { VerbError } from '../faults.ts'

const route = /pattern = "([^"/]+)(\/[^"]*)", zone_name = "([^"]+)"/g

/** The host of the first route in the text of a `wrangler.toml`. Refuses one without routes. */
export function routedHost(toml: string): string {
  const host = toml.matchAll(route).next().value?.[1]
  if (host === undefined) throw new VerbError('There are no routes in this wrangler.toml.')
  return host
}

/**
 * The text with another host and zone in each route of the panel's own host; routes of other hosts, such as those of
 * regions, stay. Refuses a host outside of the zone.
 */
export function withRoutes(toml: string, host: string, zone: string): string {
  if (host !== zone && !host.endsWith(`.${zone}`))
    throw new VerbError(`${host} is not in the zone ${zone}: give the zone at Cloudflare that holds it.`)
  const before = routedHost(toml)
  return toml.replaceAll(route, (whole, found: string, path: string) =>
    found === before ? `pattern = "${host}${path}", zone_name = "${zone}"` : whole,
  )
}
