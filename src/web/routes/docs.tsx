import { createFileRoute } from '@tanstack/react-router'
import { loadTexts } from '../app/texts.ts'
import { DocsPage } from '../docs/docs-page.tsx'

export const Route = createFileRoute('/docs')({
  loader: () => loadTexts('docs'),
  component: DocsPage,
})
