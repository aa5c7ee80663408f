import { createFileRoute } from '@tanstack/react-router'
import { filesQuery } from '../../../../../api/files.ts'
import { loadTexts } from '../../../../../app/texts.ts'
import { FilesPage } from '../../../../../server/files/files-page.tsx'
import { normalizePath } from '../../../../../server/files/paths.ts'

export const Route = createFileRoute('/_app/server/$server/files/')({
  validateSearch: (search: Record<string, unknown>): { directory?: string } =>
    search.directory === undefined ? {} : { directory: normalizePath(String(search.directory)) },
  loaderDeps: ({ search }) => ({ directory: search.directory ?? '/' }),
  loader: ({ context, params, deps }) => {
    void context.queryClient.prefetchQuery(filesQuery(params.server, deps.directory))
    return loadTexts('files', 'trash')
  },
  component: FilesRoute,
})

function FilesRoute() {
  const { directory = '/' } = Route.useSearch()
  return <FilesPage key={directory} directory={directory} />
}
