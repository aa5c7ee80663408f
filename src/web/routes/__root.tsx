import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { BottomBarPlace } from '../app/bottom-bar-place.tsx'
import { site } from '../app/site.ts'
import { Toasts } from '../components/toast.tsx'
import { Tooltips } from '../components/tooltip.tsx'

const ActingBar = lazy(async () => ({ default: (await import('../acting/acting-bar.tsx')).ActingBar }))

export const Route = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: () => (
    <>
      <BottomBarPlace>
        <Outlet />
        {site.acting && (
          <Suspense>
            <ActingBar acting={site.acting} />
          </Suspense>
        )}
      </BottomBarPlace>
      <Toasts />
      <Tooltips />
      <div id="route-announcer" aria-live="polite" className="sr-only" />
    </>
  ),
})
