import type { Socket } from 'node:net'

/**
 * Returns a socket once it has connected. Rejects with its error, and with `ETIMEDOUT` when the signal fires before; then
 * it is closed.
 */
export const whenConnected = (socket: Socket, signal: AbortSignal): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const abort = () =>
      socket.destroy(Object.assign(new Error('The connection took too long.'), { code: 'ETIMEDOUT' }))
    signal.addEventListener('abort', abort, { once: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort)
      // Stays for errors that come before the caller listens: without a listener they would end the process.
      socket.on('error', () => undefined)
      resolve(socket.setNoDelay(true))
    })
    if (signal.aborted) abort()
  })
