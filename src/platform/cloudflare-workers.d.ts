/** What is used of the module that Workers have. */
declare module 'cloudflare:workers' {
  /** Bindings of wrangler.toml. */
  export const env: { ASSETS: { fetch: (address: string) => Promise<Response> } }
}
