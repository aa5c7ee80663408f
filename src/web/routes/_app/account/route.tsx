import { createFileRoute, Outlet } from '@tanstack/react-router'
import { History, KeyRound, ShieldCheck, Terminal, UserCog } from 'lucide-react'
import { lazy } from 'react'
import { useTranslation } from '../../../app/use-translation.ts'
import { pageStyle, SideNav } from '../../../app/side-nav.tsx'
import { site } from '../../../app/site.ts'
import { loadTexts } from '../../../app/texts.ts'

const AccountWhileActing = lazy(async () => ({
  default: (await import('../../../acting/account-while-acting.tsx')).AccountWhileActing,
}))

export const Route = createFileRoute('/_app/account')({
  loader: () => loadTexts('account'),
  component: AccountLayout,
})

function AccountLayout() {
  const { t } = useTranslation('account')
  return (
    <div className="flex min-w-0 flex-1">
      <SideNav
        label={t('nav.label')}
        groups={[
          {
            entries: [
              { to: '/account', icon: UserCog, text: t('nav.profile'), exact: true },
              {
                to: '/account/sign-in',
                icon: ShieldCheck,
                text: t('nav.sign_in'),
                short: t('nav.sign_in_short'),
              },
              { to: '/account/api', icon: KeyRound, text: t('nav.api') },
              { to: '/account/ssh', icon: Terminal, text: t('nav.ssh') },
              { to: '/account/activity', icon: History, text: t('nav.activity') },
            ],
          },
        ]}
      />
      <main id="content" tabIndex={-1} className={pageStyle}>
        {site.acting ? (
          <AccountWhileActing>
            <Outlet />
          </AccountWhileActing>
        ) : (
          <Outlet />
        )}
      </main>
    </div>
  )
}
