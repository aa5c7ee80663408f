import { request } from './request.ts'

export const renameServer = (server: string, name: string, description: string) =>
  request<void>('POST', `/api/client/servers/${server}/settings/rename`, { body: { name, description } })

/** The server is stopped, and its installer runs again. */
export const reinstallServer = (server: string) =>
  request<unknown>('POST', `/api/client/servers/${server}/settings/reinstall`)
