import { Link } from '@tanstack/react-router'
import { BookOpen, CircleUser, LogOut, Server, UserCog } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../components/button.tsx'
import { Menu, MenuChoices, MenuItem, MenuLink, MenuSeparator } from '../components/menu.tsx'
import { CommandMenu } from './command-menu.tsx'
import { signOut } from './sign-out.ts'
import { site } from './site.ts'
import { setTheme, themes, useTheme } from './theme.ts'

/** What stands above every page: the way home, and the reader's own menu. */
export function TopBar() {
  return (
    <header className="sticky top-0 z-30 border-b border-line bg-surface">
      <div className="mx-auto flex h-14 w-full max-w-7xl items-center justify-between gap-3 px-4">
        <Link
          to="/"
          className="flex min-w-0 items-center gap-2.5 rounded-control font-semibold tracking-tight"
        >
          <Mark />
          <span className="truncate">{site.name}</span>
        </Link>
        <div className="flex items-center gap-1">
          <CommandMenu />
          <AccountMenu />
        </div>
      </div>
    </header>
  )
}

const Mark = () => (
  <svg aria-hidden viewBox="0 0 24 24" className="size-7 shrink-0 text-brand">
    <rect width="24" height="24" rx="6" fill="currentColor" />
    <path
      d="M5 15.5h14M8 15.5c0-5 2.2-8 6.4-8 1.7 0 2.9.8 3.4 2l1.7.7-1.8.9c-.4 2.7-2.4 4.4-5.2 4.4M9.5 15.5v2.2M14 15.5v2.2"
      fill="none"
      className="stroke-surface"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
)

function AccountMenu() {
  const { t } = useTranslation('server')
  const theme = useTheme()
  const looks = themes.map((name) => [name, t(`theme.${name}`)] as const)
  return (
    <Menu trigger={<IconButton icon={CircleUser} label={t('nav.account_menu')} />}>
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
      <MenuChoices label={t('theme.label')} value={theme} onChange={setTheme} choices={looks} />
      <MenuSeparator />
      <MenuItem icon={LogOut} onSelect={() => void signOut()}>
        {t('nav.sign_out')}
      </MenuItem>
    </Menu>
  )
}
