import { createFileRoute, Outlet } from '@tanstack/react-router'
import { preloadAnnouncements } from '../../announcements/announcements.tsx'
import { AppLayout } from '../../app/app-layout.tsx'
import { FooterLinks } from '../../app/footer-links.tsx'
import { site } from '../../app/site.ts'

/** Pages of signed-in users; guests are sent to the sign-in page. */
export const Route = createFileRoute('/_app')({
  beforeLoad: () => {
    if (!site.user) location.assign('/auth/login')
  },
  loader: preloadAnnouncements,
  component: () => (
    <AppLayout>
      <Outlet />
      <FooterLinks />
    </AppLayout>
  ),
})
