import { createFileRoute } from '@tanstack/react-router'
import { loadTexts } from '../../../../../app/texts.ts'
import { NewFilePage } from '../../../../../server/editor/new-file-page.tsx'
import { normalizePath } from '../../../../../server/files/paths.ts'

export const Route = createFileRoute('/_app/server/$server/files/new')({
  validateSearch: (search: Record<string, unknown>): { directory: string } => ({
    directory: normalizePath(String(search.directory ?? '/')),
  }),
  loader: () => loadTexts('files'),
  component: NewFileRoute,
})

function NewFileRoute() {
  const { directory } = Route.useSearch()
  return <NewFilePage key={directory} directory={directory} />
}
