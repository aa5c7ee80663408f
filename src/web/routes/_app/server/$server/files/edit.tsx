import { createFileRoute } from '@tanstack/react-router'
import { loadTexts } from '../../../../../app/texts.ts'
import { EditPage } from '../../../../../server/editor/edit-page.tsx'
import { normalizePath } from '../../../../../server/files/paths.ts'

export const Route = createFileRoute('/_app/server/$server/files/edit')({
  validateSearch: (search: Record<string, unknown>): { file: string } => ({
    file: normalizePath(String(search.file ?? '')),
  }),
  loader: () => loadTexts('files'),
  component: EditRoute,
})

function EditRoute() {
  const { file } = Route.useSearch()
  return <EditPage key={file} file={file} />
}
