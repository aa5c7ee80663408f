import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import {
  BookOpen,
  History,
  Keyboard,
  KeyRound,
  LogOut,
  type LucideIcon,
  Moon,
  Play,
  RotateCw,
  Server as ServerIcon,
  ShieldCheck,
  Skull,
  Square,
  Sun,
  SunMoon,
  Terminal,
  UserCog,
} from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { rowsOf } from '../api/resources.ts'
import { serverQuery, serversQuery, type ServerWithMeta } from '../api/servers.ts'
import { primaryAddress } from '../server/addresses.ts'
import { signalPermissions, usePower } from '../server/power.tsx'
import { serverPages } from '../server/server-nav.tsx'
import { isBlocked } from '../server/server-state.ts'
import { signOut } from './sign-out.ts'
import { site } from './site.ts'
import { setTheme, themes } from './theme.ts'

export type Command = {
  id: string
  group: 'servers' | 'server' | 'pages' | 'panel'
  icon: LucideIcon
  text: string
  /** Said beside it; searched too. */
  hint?: string
  run: () => void
}

export type CommandWishes = { onKill: () => void; onHelp: () => void }

const accountPages = [
  { path: '', icon: UserCog, name: 'profile' },
  { path: '/sign-in', icon: ShieldCheck, name: 'sign_in' },
  { path: '/api', icon: KeyRound, name: 'api' },
  { path: '/ssh', icon: Terminal, name: 'ssh' },
  { path: '/activity', icon: History, name: 'activity' },
] as const

const signals = [
  { signal: 'start', icon: Play },
  { signal: 'restart', icon: RotateCw },
  { signal: 'stop', icon: Square },
  { signal: 'kill', icon: Skull },
] as const

const themeIcons = { system: SunMoon, light: Sun, dark: Moon }

/** Whether every word that was typed is somewhere in the command. */
const matches = (typed: string) => {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  return ({ text, hint = '' }: Command) => {
    const all = `${text} ${hint}`.toLowerCase()
    return words.every((word) => all.includes(word))
  }
}

/** What can be done from here that fits what was typed; servers as the panel finds them by `searched`. */
export function useCommands(
  server: string | undefined,
  typed: string,
  searched: string,
  wishes: CommandWishes,
): { commands: Command[]; isSearching: boolean } {
  const fixed = [...useServerCommands(server, wishes), ...usePanelCommands(wishes)].filter(matches(typed))
  const found = useFoundServers(searched)
  // Until the panel has looked, those of the search before count which fit.
  const servers = found.isOld || searched !== typed ? found.commands.filter(matches(typed)) : found.commands
  return { commands: [...servers, ...fixed], isSearching: found.isSearching || searched !== typed }
}

const mostFound = 8

function useFoundServers(searched: string) {
  const navigate = useNavigate()
  const scope = site.user?.root_admin && searched !== '' ? 'admin-all' : 'accessible'
  const { data, isFetching, isPlaceholderData } = useQuery(serversQuery(scope, searched, 1))
  const commands = (data ? rowsOf(data) : []).slice(0, mostFound).map((server): Command => ({
    id: `server-${server.uuid}`,
    group: 'servers',
    icon: ServerIcon,
    text: server.name,
    hint: primaryAddress(server) ?? server.identifier,
    run: () => void navigate({ to: '/server/$server', params: { server: server.identifier } }),
  }))
  return { commands, isSearching: isFetching && data === undefined, isOld: isPlaceholderData }
}

/** Pages and power of the server that is open. */
function useServerCommands(id: string | undefined, { onKill }: CommandWishes): Command[] {
  const { t } = useTranslation('server')
  const queries = useQueryClient()
  const navigate = useNavigate()
  const power = usePower(id ?? '')
  const open = id === undefined ? undefined : queries.getQueryData(serverQuery(id).queryKey)
  if (!open) return []
  const { attributes: server } = open
  const can = (needed: string | null) => needed === null || isGranted(open, needed)
  const pages = serverPages
    .filter(({ needs }) => can(needs))
    .map(({ page, name, icon }): Command => ({
      id: `page-${name}`,
      group: 'server',
      icon,
      text: t(`nav.${name}`),
      run: () =>
        void navigate({
          to: `/server/$server${page}` as '/server/$server',
          params: { server: server.identifier },
        }),
    }))
  const powers = signals
    .filter(({ signal }) => !isBlocked(server) && can(signalPermissions[signal]))
    .map(({ signal, icon }): Command => ({
      id: `power-${signal}`,
      group: 'server',
      icon,
      text: t(`power.${signal}`),
      run: signal === 'kill' ? onKill : () => power.mutate(signal),
    }))
  return [...pages, ...powers]
}

const isGranted = ({ meta }: ServerWithMeta, permission: string) =>
  meta.user_permissions.includes('*') || meta.user_permissions.includes(permission)

/** Pages of the account, and what concerns the panel as a whole. */
function usePanelCommands({ onHelp }: CommandWishes): Command[] {
  const { t } = useTranslation('server')
  const navigate = useNavigate()
  const account = accountPages.map(({ path, icon, name }): Command => ({
    id: `account-${name}`,
    group: 'pages',
    icon,
    text: t(`commands.account_${name}`),
    hint: t('strings:word.account'),
    run: () => void navigate({ to: `/account${path}` as '/account' }),
  }))
  const looks = themes.map((theme): Command => ({
    id: `theme-${theme}`,
    group: 'panel',
    icon: themeIcons[theme],
    text: t(`theme.${theme}`),
    hint: t('theme.label'),
    run: () => setTheme(theme),
  }))
  return [
    {
      id: 'home',
      group: 'pages',
      icon: ServerIcon,
      text: t('strings:word.servers'),
      run: () => void navigate({ to: '/' }),
    },
    ...account,
    { id: 'docs', group: 'pages', icon: BookOpen, text: t('nav.docs'), run: () => location.assign('/docs') },
    ...looks,
    { id: 'shortcuts', group: 'panel', icon: Keyboard, text: t('shortcuts.title'), run: onHelp },
    { id: 'sign-out', group: 'panel', icon: LogOut, text: t('nav.sign_out'), run: () => void signOut() },
  ]
}
