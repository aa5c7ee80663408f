import { createFileRoute, Outlet } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { site } from '../../app/site.ts'
import { SecondFactorNotice } from '../../app/second-factor-notice.tsx'
import { SessionEnded } from '../../app/session-ended.tsx'
import { TopBar } from '../../app/top-bar.tsx'

/** Pages of signed-in users; guests are sent to the sign-in page. */
export const Route = createFileRoute('/_app')({
  beforeLoad: () => {
    if (!site.user) location.assign('/auth/login')
  },
  component: AppLayout,
})

function AppLayout() {
  const { t } = useTranslation('server')
  return (
    <div className="flex min-h-dvh flex-col">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-control focus:bg-surface focus:px-3 focus:py-2"
      >
        {t('nav.skip')}
      </a>
      <TopBar />
      <SecondFactorNotice />
      <Outlet />
      {/* Who acts for a user leaves by the bar at the bottom, also when the time is over. */}
      {site.acting ? null : <SessionEnded />}
    </div>
  )
}
