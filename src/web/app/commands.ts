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
import { useTranslation } from './use-translation.ts'
import { rowsOf } from '../api/resources.ts'
import { summariesQuery } from '../api/server-list.ts'
import { serverQuery, type ServerWithMeta } from '../api/servers.ts'
import { requestOf } from '../home/home-request.ts'
import { allocationAddress } from '../server/addresses.ts'
import { signalPermissions, usePower } from '../server/power.tsx'
import { serverPages } from '../server/server-nav.tsx'
import { isBlocked } from '../server/server-state.ts'
import { signOut } from './sign-out.ts'
import { site } from './site.ts'
import { setTheme, themes } from './theme.ts'

export type Command = {
  id: string
  group: 'servers' | 'server' | 'admin' | 'pages' | 'panel'
  icon: LucideIcon
  text: string
  /** Shown beside the text, and searched too. */
  hint?: string
  run: () => void
}

export type CommandHandlers = { onKill: () => void; onHelp: () => void }

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

/** Returns a predicate: whether a command contains every word of the input. */
const matches = (input: string) => {
  const words = input.toLowerCase().split(/\s+/).filter(Boolean)
  return ({ text, hint = '' }: Command) => {
    const all = `${text} ${hint}`.toLowerCase()
    return words.every((word) => all.includes(word))
  }
}

/** Returns the commands that match the input. The panel searches servers by `search`, the debounced input. */
export function useCommands(
  server: string | undefined,
  input: string,
  search: string,
  handlers: CommandHandlers,
): { commands: Command[]; isSearching: boolean } {
  const commands = [...useServerCommands(server, handlers), ...usePanelCommands(handlers)].filter(
    matches(input),
  )
  const found = useServerSearch(search)
  const admin = useAdminCommands(search)
  // Until the answer has come, the servers of the last search that match are shown.
  const servers = found.isOld || search !== input ? found.commands.filter(matches(input)) : found.commands
  return {
    commands: [
      ...servers,
      ...admin.filter(({ isFound, ...command }) => isFound || matches(input)(command)),
      ...commands,
    ],
    isSearching: found.isSearching || search !== input,
  }
}

/** Returns the pages of administrators and what the search found among their resources. */
function useAdminCommands(search: string): (Command & { isFound: boolean })[] {
  const navigate = useNavigate()
  const { data, isPlaceholderData } = useQuery({
    queryKey: ['admin', 'commands', search],
    queryFn: async ({ signal }) =>
      (await import('../admin/admin-commands.ts')).findAdminCommands(search, signal),
    enabled: site.acl !== null,
    placeholderData: (before) => before,
  })
  return (data ?? []).map(({ path, isPage, ...command }) => ({
    ...command,
    group: 'admin' as const,
    // What an earlier search found is shown only where it matches by itself.
    isFound: !isPage && !isPlaceholderData,
    run: () => void navigate({ to: '/admin/$', params: { _splat: path } }),
  }))
}

const maxResults = 8

/** Searches the servers that the user may open; each command opens this page of one. */
export function useServerSearch(search: string, max = maxResults, page = '') {
  const navigate = useNavigate()
  const scope = site.user?.root_admin && search !== '' ? 'admin-all' : 'accessible'
  const { data, isFetching, isPlaceholderData } = useQuery(summariesQuery(requestOf({ scope, q: search })))
  const commands = (data ? rowsOf(data) : []).slice(0, max).map((server): Command => ({
    id: `server-${server.uuid}`,
    group: 'servers',
    icon: ServerIcon,
    text: server.name,
    hint: server.address ? allocationAddress(server.address) : server.identifier,
    run: () =>
      void navigate({
        to: `/server/$server${page}` as '/server/$server',
        params: { server: server.identifier },
      }),
  }))
  return { commands, isSearching: isFetching && data === undefined, isOld: isPlaceholderData }
}

/** Returns the pages and power actions of the open server. */
function useServerCommands(id: string | undefined, { onKill }: CommandHandlers): Command[] {
  const { t } = useTranslation('server')
  const queries = useQueryClient()
  const navigate = useNavigate()
  const power = usePower(id ?? '')
  const open = id === undefined ? undefined : queries.getQueryData(serverQuery(id).queryKey)
  if (!open) return []
  const { attributes: server } = open
  const can = (permission: string | null) => permission === null || isGranted(open, permission)
  const pages = serverPages
    .filter(({ permission }) => can(permission))
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
  const powerCommands = signals
    .filter(({ signal }) => !isBlocked(server) && can(signalPermissions[signal]))
    .map(({ signal, icon }): Command => ({
      id: `power-${signal}`,
      group: 'server',
      icon,
      text: t(`power.${signal}`),
      run: signal === 'kill' ? onKill : () => power.mutate(signal),
    }))
  return [...pages, ...powerCommands]
}

const isGranted = ({ meta }: ServerWithMeta, permission: string) =>
  meta.user_permissions.includes('*') || meta.user_permissions.includes(permission)

/** Returns the account pages and the commands for the whole panel. */
function usePanelCommands({ onHelp }: CommandHandlers): Command[] {
  const { t } = useTranslation('server')
  const navigate = useNavigate()
  const accountCommands = accountPages.map(({ path, icon, name }): Command => ({
    id: `account-${name}`,
    group: 'pages',
    icon,
    text: t(`commands.account_${name}`),
    hint: t('strings:word.account'),
    run: () => void navigate({ to: `/account${path}` as '/account' }),
  }))
  const themeCommands = themes.map((theme): Command => ({
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
    ...accountCommands,
    { id: 'docs', group: 'pages', icon: BookOpen, text: t('nav.docs'), run: () => location.assign('/docs') },
    ...themeCommands,
    { id: 'shortcuts', group: 'panel', icon: Keyboard, text: t('shortcuts.title'), run: onHelp },
    { id: 'sign-out', group: 'panel', icon: LogOut, text: t('nav.sign_out'), run: () => void signOut() },
  ]
}
