import { useMutation, useQueryClient } from '@tanstack/react-query'
import { clientApi, done, json } from './client.ts'
import { refetchList, type ServerFolder } from './server-list.ts'

/** Creates, renames and deletes folders. */
export function useFolderChange<Input, Result>(change: (input: Input) => Promise<Result>) {
  const queries = useQueryClient()
  return useMutation({ mutationFn: change, onSettled: () => refetchList(queries) })
}

const folderApi = clientApi.account.servers.folders

/** Creates a folder. */
export const createFolder = async (name: string): Promise<ServerFolder> =>
  (await json(folderApi.$post({ json: { name } }))).attributes

/** Renames a folder. */
export const renameFolder = ({ id, name }: { id: number; name: string }) =>
  done(folderApi[':folder'].$patch({ param: { folder: String(id) }, json: { name } }))

/** Deletes a folder; its servers stay. */
export const deleteFolder = (id: number) =>
  done(folderApi[':folder'].$delete({ param: { folder: String(id) } }))
