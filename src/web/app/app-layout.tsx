import { useLocation } from '@tanstack/react-router'
import { Server, UserCog, Wrench } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from './use-translation.ts'
import { TraySlot } from '../server/files/tray-slot.tsx'
import { BottomBar } from './side-nav.tsx'
import { OfflineNotice } from '../offline/offline-notice.tsx'
import { SecondFactorNotice } from './second-factor-notice.tsx'
import { SessionEnded } from './session-ended.tsx'
import { site } from './site.ts'
import { TopBar } from './top-bar.tsx'

/** The frame of pages of signed-in users. */
export function AppLayout({ children }: { children: ReactNode }) {
  const { t } = useTranslation('server')
  const { pathname } = useLocation()
  return (
    <div className="flex flex-1 flex-col">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:start-2 focus:z-50 focus:rounded-control focus:bg-surface focus:px-3 focus:py-2"
      >
        {t('nav.skip')}
      </a>
      <TopBar />
      <OfflineNotice />
      <SecondFactorNotice />
      {children}
      <TraySlot />
      {pathname === '/' && <HomeBar />}
      {/* Who acts for a user leaves by the bar at the bottom, also when the time is over. */}
      {site.acting ? null : <SessionEnded />}
    </div>
  )
}

/** What stands at the foot of a phone on the start page, which has no pages of its own below it. */
function HomeBar() {
  const { t } = useTranslation('server')
  const entries = [
    { to: '/', icon: Server, text: t('strings:word.servers'), exact: true },
    { to: '/account', icon: UserCog, text: t('strings:word.account') },
    ...(site.acl ? [{ to: '/admin/$', params: { _splat: '' }, icon: Wrench, text: t('nav.admin') }] : []),
  ]
  return <BottomBar label={t('nav.panel')} groups={[{ entries }]} />
}
