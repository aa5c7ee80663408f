import { createFileRoute, Outlet, useMatchRoute } from '@tanstack/react-router'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Announcements } from '../../../../announcements/announcements.tsx'
import { serverQuery } from '../../../../api/servers.ts'
import { sideStyle } from '../../../../app/side-nav.tsx'
import { Skeleton } from '../../../../components/states.tsx'
import { ServerProvider } from '../../../../server/server-context.tsx'
import { ServerBanners } from '../../../../server/server-banners.tsx'
import { ServerError } from '../../../../server/server-error.tsx'
import { ServerHeader } from '../../../../server/server-header.tsx'
import { ServerNav } from '../../../../server/server-nav.tsx'

const serverPageStyle = 'mx-auto flex w-full max-w-[100rem] min-w-0 flex-1 flex-col gap-4 p-4 lg:px-6'

export const Route = createFileRoute('/_app/server/$server')({
  loader: ({ context, params }) => context.queryClient.ensureQueryData(serverQuery(params.server)),
  component: ServerLayout,
  pendingComponent: ServerPending,
  errorComponent: ServerError,
})

/** The frame of the pages before the server is known, so that it stays where it is. */
function ServerPending() {
  return (
    <div className="flex min-w-0 flex-1">
      <div className={sideStyle} />
      <div className={serverPageStyle}>
        <Skeleton />
      </div>
    </div>
  )
}

function ServerLayout() {
  const { server: name } = Route.useParams()
  const { data } = useSuspenseQuery(serverQuery(name))
  const isConsole = Boolean(useMatchRoute()({ to: '/server/$server' }))
  return (
    <ServerProvider key={data.attributes.uuid} server={data}>
      <div className="flex min-w-0 flex-1">
        <ServerNav />
        <div className={serverPageStyle}>
          <ServerHeader />
          {/* The gap stands below the title of a page, too. */}
          <main
            id="content"
            tabIndex={-1}
            className="flex min-w-0 flex-1 flex-col gap-4 outline-none [&>header]:pb-0"
          >
            <Announcements node={data.attributes.node} />
            <ServerBanners isConsole={isConsole} />
            <Outlet />
          </main>
        </div>
      </div>
    </ServerProvider>
  )
}
