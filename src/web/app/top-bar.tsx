import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { BookOpen, LogOut, Server, UserCog } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { accountQuery } from '../api/account.ts'
import { Avatar } from '../components/avatar.tsx'
import { Menu, MenuChoices, MenuItem, MenuLink, MenuSeparator } from '../components/menu.tsx'
import { CommandMenu } from './command-menu.tsx'
import { Mark } from './mark.tsx'
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

function AccountMenu() {
  const { t } = useTranslation('server')
  const theme = useTheme()
  const looks = themes.map((name) => [name, t(`theme.${name}`)] as const)
  return (
    <Menu
      trigger={
        <button type="button" aria-label={t('nav.account_menu')} className="rounded-full">
          <OwnAvatar />
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
      <MenuChoices label={t('theme.label')} value={theme} onChange={setTheme} choices={looks} />
      <MenuSeparator />
      <MenuItem icon={LogOut} onSelect={() => void signOut()}>
        {t('nav.sign_out')}
      </MenuItem>
    </Menu>
  )
}

/** The reader's picture: the one the page came with, until the account is asked for. */
function OwnAvatar() {
  const { data } = useQuery({ ...accountQuery, enabled: false })
  return <Avatar image={data?.image ?? site.picture ?? undefined} name={site.user?.username ?? ''} />
}
