/** What is used of the module that Workers have. */
declare module 'cloudflare:sockets' {
  export type Socket = {
    readable: ReadableStream<Uint8Array>
    writable: WritableStream<Uint8Array>
    /** Settles once the connection is made, or is not. */
    opened: Promise<unknown>
    closed: Promise<void>
    close: () => Promise<void>
  }
  export function connect(address: { hostname: string; port: number }): Socket
}
