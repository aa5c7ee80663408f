import * as z from 'zod'

/** How to reach the live console: bare data, as the ecosystem has it. */
export const WebsocketDetails = () =>
  z.object({ data: z.object({ token: z.jwt(), socket: z.url({ protocol: /^wss?$/ }) }) })
