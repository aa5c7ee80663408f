import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { LogIn } from 'lucide-react'
import { useTranslation } from '../app/use-translation.ts'
import { apiDocumentQuery } from '../api/openapi.ts'
import { Logo } from '../app/logo.tsx'
import { usePageTitle } from '../app/page-title.ts'
import { SessionEnded } from '../app/session-ended.tsx'
import { site } from '../app/site.ts'
import { TopBar } from '../app/top-bar.tsx'
import { buttonStyle } from '../components/button.tsx'
import { PageHeader } from '../components/card.tsx'
import { Loaded, Skeleton } from '../components/states.tsx'
import { Reference } from './reference.tsx'

/** The API reference; guests can read it too. */
export function DocsPage() {
  const { t } = useTranslation('docs')
  usePageTitle(t('title'))
  const document = useQuery(apiDocumentQuery)
  return (
    <div className="flex min-h-dvh flex-col">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:start-2 focus:z-50 focus:rounded-control focus:bg-surface focus:px-3 focus:py-2"
      >
        {t('server:nav.skip')}
      </a>
      {site.user ? <TopBar /> : <GuestBar />}
      <main id="content" tabIndex={-1} className="mx-auto w-full max-w-7xl flex-1 p-4 outline-none">
        <PageHeader
          title={t('title')}
          text={t('text')}
          actions={
            <a href="/openapi.json" className={buttonStyle()}>
              {t('document')}
            </a>
          }
        />
        <Loaded query={document} skeleton={<Skeleton rows={8} />}>
          {(loaded) => <Reference document={loaded} />}
        </Loaded>
      </main>
      {site.user && <SessionEnded />}
    </div>
  )
}

function GuestBar() {
  const { t } = useTranslation('server')
  return (
    <header className="sticky top-0 z-30 border-b border-line bg-surface">
      <div className="mx-auto flex h-14 w-full max-w-7xl items-center justify-between gap-3 px-4">
        <p className="flex min-w-0 items-center gap-2.5 font-semibold tracking-tight">
          <Logo />
          <span className="truncate">{site.name}</span>
        </p>
        <Link to="/auth/login" className={buttonStyle()}>
          <LogIn aria-hidden className="size-4" /> {t('session.sign_in')}
        </Link>
      </div>
    </header>
  )
}
