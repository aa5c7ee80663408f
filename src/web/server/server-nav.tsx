import {
  Archive,
  CalendarClock,
  ChartLine,
  Database,
  FolderOpen,
  History,
  type LucideIcon,
  Network,
  Rocket,
  Settings,
  SquareTerminal,
  Users,
} from 'lucide-react'
import { useTranslation } from '../app/use-translation.ts'
import { useLocation } from '@tanstack/react-router'
import { SideNav } from '../app/side-nav.tsx'
import { useServer } from './server-context.tsx'

/** The pages of a server, each with the permission it needs, by the groups of the navigation. */
export const serverPages = [
  { page: '', name: 'console', group: 'play', icon: SquareTerminal, permission: null },
  { page: '/files', name: 'files', group: 'play', icon: FolderOpen, permission: 'file.read' },
  { page: '/backups', name: 'backups', group: 'play', icon: Archive, permission: 'backup.read' },
  { page: '/schedules', name: 'schedules', group: 'play', icon: CalendarClock, permission: 'schedule.read' },
  { page: '/usage', name: 'usage', group: 'resources', icon: ChartLine, permission: null },
  { page: '/databases', name: 'databases', group: 'resources', icon: Database, permission: 'database.read' },
  { page: '/network', name: 'network', group: 'resources', icon: Network, permission: 'allocation.read' },
  { page: '/users', name: 'users', group: 'access', icon: Users, permission: 'user.read' },
  { page: '/activity', name: 'activity', group: 'access', icon: History, permission: 'activity.read' },
  { page: '/startup', name: 'startup', group: 'setup', icon: Rocket, permission: 'startup.read' },
  { page: '/settings', name: 'settings', group: 'setup', icon: Settings, permission: null },
] as const satisfies readonly {
  page: string
  name: string
  group: string
  icon: LucideIcon
  permission: string | null
}[]

export function ServerNav() {
  const { t } = useTranslation('server')
  const { id, can } = useServer()
  const { pathname } = useLocation()
  const permitted = serverPages.filter(({ permission }) => permission === null || can(permission))
  const groups = [...Map.groupBy(permitted, ({ group }) => group)].map(([group, pages]) => ({
    // What is used most needs no title.
    ...(group === 'play' ? {} : { title: t(`nav.group_${group}`) }),
    entries: pages.map(({ page, name, icon }) => ({
      to: `/server/$server${page}`,
      params: { server: id },
      icon,
      text: t(`nav.${name}`),
      exact: page === '',
      // The trash is reached from the files, and belongs to them.
      ...(page === '/files' && pathname.endsWith('/trash') ? { isCurrent: true } : {}),
    })),
  }))
  return <SideNav label={t('nav.server')} groups={groups} />
}
