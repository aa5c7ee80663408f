import { createFileRoute, Link } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { useTranslation } from '../app/use-translation.ts'
import { AppLayout } from '../app/app-layout.tsx'
import { AuthLayout } from '../app/auth-layout.tsx'
import { usePageTitle } from '../app/page-title.ts'
import { site } from '../app/site.ts'
import { loadTexts } from '../app/texts.ts'
import { buttonStyle } from '../components/button.tsx'

/** Addresses without a page; guests see it in the frame of the sign-in. */
export const Route = createFileRoute('/$')({
  loader: () => loadTexts('auth'),
  component: NotFoundPage,
})

function NotFoundPage() {
  const { t } = useTranslation('auth')
  usePageTitle(t('page.not_found.title'))
  const notice = (
    <div className="flex flex-col items-center gap-3 text-center">
      <SearchX aria-hidden className="size-8 text-muted" />
      <h1 className="text-xl font-semibold">{t('page.not_found.title')}</h1>
      <p className="text-muted">{t('page.not_found.text')}</p>
      <Link to={site.user ? '/' : '/auth/login'} className={buttonStyle('primary')}>
        {t(site.user ? 'page.home.title' : 'page.login.title')}
      </Link>
    </div>
  )
  if (!site.user) return <AuthLayout>{notice}</AuthLayout>
  return (
    <AppLayout>
      <main id="content" className="flex grow items-center justify-center p-4">
        {notice}
      </main>
    </AppLayout>
  )
}
