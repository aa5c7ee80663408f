import type { SendGet } from '../adapters/public-fetch.ts'

/** Sends a GET by Node, whose HTTPS is loaded with the first one. */
export const lazySendGet: SendGet = async (url, options) =>
  (await import('./node-send-get.ts')).nodeSendGet(url, options)
