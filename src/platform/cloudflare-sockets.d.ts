/** The part of the module of Workers that is used here. */
declare module 'cloudflare:sockets' {
  export type Socket = {
    readable: ReadableStream<Uint8Array>
    writable: WritableStream<Uint8Array>
    /** Settles once the connection is open or has failed. */
    opened: Promise<unknown>
    closed: Promise<void>
    close: () => Promise<void>
  }
  export function connect(address: { hostname: string; port: number }): Socket
}
