import { createFileRoute } from '@tanstack/react-router'
import { AdminArea } from '../../../admin/admin-area.tsx'
import { loadTexts } from '../../../app/texts.ts'

/** All pages of administrators: one entry in the route tree, so that the players' code does not grow with them. */
export const Route = createFileRoute('/_app/admin/$')({
  loader: () => loadTexts('admin', 'startup'),
  component: Admin,
})

function Admin() {
  const { _splat: path = '' } = Route.useParams()
  return <AdminArea path={path} />
}
