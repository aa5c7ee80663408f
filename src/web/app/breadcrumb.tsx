import i18next from 'i18next'
import { Link, useLocation, useMatch } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from './use-translation.ts'
import { classNames } from '../components/class-names.ts'
import { Logo } from './logo.tsx'
import { ServerSwitcher } from './server-switcher.tsx'
import { site } from './site.ts'

/** Says where the user is: the panel, the server, which can be switched, and the page. */
export function Breadcrumb() {
  const { t } = useTranslation('server')
  const server = useMatch({ from: '/_app/server/$server', shouldThrow: false })?.params.server
  const page = usePageName()
  // Pages of administrators have a breadcrumb of their own.
  const isOfAdmin = useLocation({ select: ({ pathname }) => pathname.split('/')[1] === 'admin' })
  const Place = isOfAdmin ? 'div' : 'nav'
  return (
    <Place aria-label={isOfAdmin ? undefined : t('nav.breadcrumb')} className="min-w-0 flex-1">
      <ol className="flex min-w-0 items-center gap-1 text-sm">
        <li className="flex min-w-0 items-center">
          <Link
            to="/"
            activeOptions={{ exact: true, includeSearch: false }}
            className="flex min-w-0 items-center gap-2.5 rounded-control pe-1 text-base font-semibold tracking-tight"
          >
            <Logo />
            {/* Beside a server there is no room for it on a phone. */}
            <span className={classNames('truncate', server && 'sr-only md:not-sr-only')}>{site.name}</span>
          </Link>
        </li>
        {server && (
          <Crumb className="flex">
            <ServerSwitcher server={server} />
          </Crumb>
        )}
        {page && (
          <Crumb className="hidden lg:flex">
            <span aria-current="page" className="truncate px-1 text-muted">
              {page}
            </span>
          </Crumb>
        )}
      </ol>
    </Place>
  )
}

const Crumb = ({ className, children }: { className: string; children: ReactNode }) => (
  <li className={classNames('min-w-0 items-center gap-1', className)}>
    <ChevronRight aria-hidden className="size-4 shrink-0 text-muted rtl:rotate-180" />
    {children}
  </li>
)

/** The pages of a server whose name is not the last but one part of their address. */
const parents: Record<string, string> = { '': 'console', trash: 'files' }

/** Returns the name of the page or area that is open. */
function usePageName(): string | null {
  const { t } = useTranslation('server')
  const [, area = '', server, page = ''] = useLocation().pathname.split('/')
  if (area === 'account') return t('strings:word.account')
  if (area !== 'server' || !server) return null
  const key = `nav.${parents[page] ?? page}`
  return i18next.exists(`server:${key}`) ? t(key as 'nav.console') : null
}
