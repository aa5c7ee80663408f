import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { SecondFactorNotice } from './second-factor-notice.tsx'
import { SessionEnded } from './session-ended.tsx'
import { site } from './site.ts'
import { TopBar } from './top-bar.tsx'

/** The frame of pages of signed-in users. */
export function AppLayout({ children }: { children: ReactNode }) {
  const { t } = useTranslation('server')
  return (
    <div className="flex flex-1 flex-col">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-control focus:bg-surface focus:px-3 focus:py-2"
      >
        {t('nav.skip')}
      </a>
      <TopBar />
      <SecondFactorNotice />
      {children}
      {/* Who acts for a user leaves by the bar at the bottom, also when the time is over. */}
      {site.acting ? null : <SessionEnded />}
    </div>
  )
}
