/** The part of the module of Workers that is used here. */
declare module 'cloudflare:workers' {
  /** Bindings of wrangler.toml. */
  export const env: { ASSETS: { fetch: (address: string) => Promise<Response> } }
}
