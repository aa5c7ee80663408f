/** A panel on one of its platforms, called over the network. */
export type Platform = {
  name: 'Node' | 'Workers' | 'Lambda'
  /** Its APP_URL, on localhost, where browsers have passkeys; callers there are known by the address of their socket. */
  origin: string
  /** Runs the scheduled event of the platform and waits for it. */
  tick: () => Promise<void>
  close: () => Promise<void>
}

/** Starts a panel with this environment, in which APP_URL alone is missing. */
export type OpenPlatform = (environment: Record<string, string>) => Promise<Platform>
