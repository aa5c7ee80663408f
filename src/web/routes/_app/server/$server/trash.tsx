import { createFileRoute } from '@tanstack/react-router'
import { loadTexts } from '../../../../app/texts.ts'
import { TrashPage } from '../../../../server/trash/trash-page.tsx'

export const Route = createFileRoute('/_app/server/$server/trash')({
  loader: () => loadTexts('trash', 'files'),
  component: TrashPage,
})
