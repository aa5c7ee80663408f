import { useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { site } from '../app/site.ts'
import { Banner } from '../components/badge.tsx'

/** Shows the pages of the account to an administrator who acts for its user, and why nothing can be changed there. */
export function AccountWhileActing({ children }: { children: ReactNode }) {
  const { t } = useTranslation('account')
  // The activity has filters alone.
  if (useLocation().pathname === '/account/activity') return children
  return (
    <div className="flex flex-col gap-4">
      <Banner tone="warn" title={t('acting.account', { user: site.user?.username ?? '' })}>
        {t('acting.account_text')}
      </Banner>
      <fieldset disabled className="min-w-0">
        {children}
      </fieldset>
    </div>
  )
}
