import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { usePageTitle } from '../app/page-title.ts'
import { Banner } from '../components/badge.tsx'

/** The layout of a guest page: a title, and its form or message. */
export function GuestPage({ title, text, children }: { title: string; text?: string; children: ReactNode }) {
  usePageTitle(title)
  return (
    <div className="flex flex-col gap-4">
      <header>
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        {text && <p className="mt-1 text-sm text-muted">{text}</p>}
      </header>
      {children}
    </div>
  )
}

const linkStyle = 'inline-flex min-h-9 items-center text-sm font-medium text-brand-text hover:underline'

/** A link between guest pages. */
export const GuestLink = ({
  to,
  children,
}: {
  to: '/auth/login' | '/auth/register' | '/auth/password'
  children: ReactNode
}) => (
  <Link to={to} className={linkStyle}>
    {children}
  </Link>
)

export const BackToSignIn = () => {
  const { t } = useTranslation('auth')
  return <GuestLink to="/auth/login">{t('forgot.back')}</GuestLink>
}

/** Shows why the form of this page is disabled. */
export const DisabledForm = ({ text }: { text: string }) => (
  <>
    <Banner tone="info" title={text} />
    <BackToSignIn />
  </>
)
