import { createFileRoute, Outlet } from '@tanstack/react-router'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Announcements } from '../../../../announcements/announcements.tsx'
import { serverQuery } from '../../../../api/servers.ts'
import { ServerProvider } from '../../../../server/server-context.tsx'
import { ServerBanners } from '../../../../server/server-banners.tsx'
import { ServerError } from '../../../../server/server-error.tsx'
import { ServerHeader } from '../../../../server/server-header.tsx'
import { ServerNav } from '../../../../server/server-nav.tsx'

export const Route = createFileRoute('/_app/server/$server')({
  loader: ({ context, params }) => context.queryClient.ensureQueryData(serverQuery(params.server)),
  component: ServerLayout,
  errorComponent: ServerError,
})

function ServerLayout() {
  const { server: name } = Route.useParams()
  const { data } = useSuspenseQuery(serverQuery(name))
  return (
    <ServerProvider key={data.attributes.uuid} server={data}>
      <div className="mx-auto flex w-full max-w-7xl min-w-0 flex-1 flex-col gap-4 p-4">
        <ServerHeader />
        <div className="flex min-w-0 flex-1 flex-col gap-4 lg:flex-row lg:gap-8">
          <ServerNav />
          <main id="content" tabIndex={-1} className="flex min-w-0 flex-1 flex-col gap-4 outline-none">
            <Announcements node={data.attributes.node} />
            <ServerBanners />
            <Outlet />
          </main>
        </div>
      </div>
    </ServerProvider>
  )
}
