import * as z from 'zod'

/** URL and token of the server's websocket, without an envelope. */
export const WebsocketDetails = () =>
  z.object({ data: z.object({ token: z.jwt(), socket: z.url({ protocol: /^wss?$/ }) }) })
