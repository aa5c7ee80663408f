/** A panel that is reached over the network, on one of the platforms it is made for. */
export type Platform = {
  name: 'Node' | 'Workers' | 'Lambda'
  /** Its APP_URL, on localhost, where browsers have passkeys; whoever asks there is known by the address of his socket. */
  origin: string
  /** The minute is over: does what the platform's clock makes the panel do then, and waits for it. */
  tick: () => Promise<void>
  close: () => Promise<void>
}

/** Starts a panel with this environment, in which APP_URL alone is missing. */
export type OpenPlatform = (environment: Record<string, string>) => Promise<Platform>
