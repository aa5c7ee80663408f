import { createFileRoute, Outlet } from '@tanstack/react-router'
import { History, KeyRound, ShieldCheck, Terminal, UserCog } from 'lucide-react'
import { lazy } from 'react'
import { useTranslation } from 'react-i18next'
import { SideNav } from '../../../app/side-nav.tsx'
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
    <div className="mx-auto flex w-full max-w-7xl min-w-0 flex-1 flex-col gap-4 p-4 lg:flex-row lg:gap-8">
      <SideNav
        label={t('nav.label')}
        entries={[
          { to: '/account', icon: UserCog, text: t('nav.profile'), exact: true },
          { to: '/account/sign-in', icon: ShieldCheck, text: t('nav.sign_in') },
          { to: '/account/api', icon: KeyRound, text: t('nav.api') },
          { to: '/account/ssh', icon: Terminal, text: t('nav.ssh') },
          { to: '/account/activity', icon: History, text: t('nav.activity') },
        ]}
      />
      <main id="content" tabIndex={-1} className="min-w-0 flex-1 outline-none">
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
