import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { Toasts } from '../components/toast.tsx'
import { Tooltips } from '../components/tooltip.tsx'

export const Route = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: () => (
    <>
      <Outlet />
      <Toasts />
      <Tooltips />
      <div id="route-announcer" aria-live="polite" className="sr-only" />
    </>
  ),
})
