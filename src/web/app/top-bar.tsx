import { useQuery } from '@tanstack/react-query'
import { Link, useRouterState } from '@tanstack/react-router'
import { BookOpen, LogOut, Server, UserCog, Wrench } from 'lucide-react'
import { useTranslation } from './use-translation.ts'
import { version } from '../../version.ts'
import { accountQuery } from '../api/account.ts'
import { Avatar } from '../components/avatar.tsx'
import { buttonStyle } from '../components/button.tsx'
import { Menu, MenuChoices, MenuItem, MenuLink, MenuSeparator } from '../components/menu.tsx'
import { Breadcrumb } from './breadcrumb.tsx'
import { NotificationBell } from '../notifications/bell.tsx'
import { CommandMenu } from './command-menu.tsx'
import { signOut } from './sign-out.ts'
import { site } from './site.ts'
import { setTheme, themes, useTheme } from './theme.ts'

/** The bar at the top of every page: where the user is, the command palette and the account menu. */
export function TopBar() {
  return (
    <header className="sticky top-0 z-30 border-b border-line bg-surface">
      <div className="flex h-14 w-full items-center justify-between gap-3 px-4 lg:px-6">
        <Breadcrumb />
        <div className="flex shrink-0 items-center gap-1">
          {site.acl && <AdminLink />}
          <CommandMenu />
          <NotificationBell />
          <AccountMenu />
        </div>
      </div>
      <LoadingLine />
    </header>
  )
}

/** Shows that the next page is on its way, while the one before it stays. */
function LoadingLine() {
  const isLoading = useRouterState({ select: ({ status }) => status === 'pending' })
  if (!isLoading) return null
  return (
    <div aria-hidden className="absolute inset-x-0 -bottom-px h-0.5 overflow-hidden">
      <div className="h-full w-1/3 animate-loading bg-brand" />
    </div>
  )
}

/** Leads administrators to their area, whose code is loaded only there. */
function AdminLink() {
  const { t } = useTranslation('server')
  return (
    <Link
      to="/admin/$"
      params={{ _splat: '' }}
      aria-label={t('nav.admin')}
      className={`${buttonStyle('quiet')} hover:bg-raised aria-[current=page]:text-brand-text`}
    >
      <Wrench aria-hidden className="size-4" />
      <span className="hidden sm:inline">{t('nav.admin')}</span>
    </Link>
  )
}

function AccountMenu() {
  const { t } = useTranslation('server')
  const theme = useTheme()
  const choices = themes.map((name) => [name, t(`theme.${name}`)] as const)
  return (
    <Menu
      trigger={
        <button type="button" aria-label={t('nav.account_menu')} className="rounded-full">
          <AccountAvatar />
        </button>
      }
    >
      <p className="max-w-64 truncate px-2.5 py-1.5 text-sm font-medium">{site.user?.username}</p>
      <MenuSeparator />
      <MenuLink>
        <Link to="/">
          <Server aria-hidden className="size-4" /> {t('strings:word.servers')}
        </Link>
      </MenuLink>
      <MenuLink>
        <Link to="/account">
          <UserCog aria-hidden className="size-4" /> {t('strings:word.account')}
        </Link>
      </MenuLink>
      <MenuLink>
        <a href="/docs">
          <BookOpen aria-hidden className="size-4" /> {t('nav.docs')}
        </a>
      </MenuLink>
      <MenuSeparator />
      <MenuChoices label={t('theme.label')} value={theme} onChange={setTheme} choices={choices} />
      <MenuSeparator />
      <MenuItem icon={LogOut} onSelect={() => void signOut()}>
        {t('nav.sign_out')}
      </MenuItem>
      <p className="px-2.5 py-1.5 text-xs text-muted">Roost {version}</p>
    </Menu>
  )
}

/** The avatar of the user: as rendered into the page, until the account has been fetched. */
function AccountAvatar() {
  const { data } = useQuery({ ...accountQuery, enabled: false })
  return <Avatar image={data?.image ?? site.picture ?? undefined} name={site.user?.username ?? ''} />
}
