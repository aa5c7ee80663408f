import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { Toasts } from '../components/toast.tsx'
import { TooltipProvider } from '../components/tooltip.tsx'

export const Route = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: () => (
    <TooltipProvider>
      <Outlet />
      <Toasts />
      <div id="route-announcer" aria-live="polite" className="sr-only" />
    </TooltipProvider>
  ),
})
