import { done, serverApi } from './client.ts'

const { settings } = serverApi

export const renameServer = (server: string, name: string, description: string) =>
  done(settings.rename.$post({ param: { server }, json: { name, description } }))

/** Stops the server and runs its installer again. */
export const reinstallServer = (server: string) => done(settings.reinstall.$post({ param: { server } }))
