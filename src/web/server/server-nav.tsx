import {
  Archive,
  CalendarClock,
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
import { useTranslation } from 'react-i18next'
import { useLocation } from '@tanstack/react-router'
import { SideNav } from '../app/side-nav.tsx'
import { useServer } from './server-context.tsx'

/** The pages of a server, each with the permission it needs. */
export const serverPages = [
  { page: '', name: 'console', icon: SquareTerminal, permission: null },
  { page: '/files', name: 'files', icon: FolderOpen, permission: 'file.read' },
  { page: '/databases', name: 'databases', icon: Database, permission: 'database.read' },
  { page: '/schedules', name: 'schedules', icon: CalendarClock, permission: 'schedule.read' },
  { page: '/users', name: 'users', icon: Users, permission: 'user.read' },
  { page: '/backups', name: 'backups', icon: Archive, permission: 'backup.read' },
  { page: '/network', name: 'network', icon: Network, permission: 'allocation.read' },
  { page: '/startup', name: 'startup', icon: Rocket, permission: 'startup.read' },
  { page: '/settings', name: 'settings', icon: Settings, permission: null },
  { page: '/activity', name: 'activity', icon: History, permission: 'activity.read' },
] as const satisfies readonly { page: string; name: string; icon: LucideIcon; permission: string | null }[]

export function ServerNav() {
  const { t } = useTranslation('server')
  const { id, can } = useServer()
  const { pathname } = useLocation()
  return (
    <SideNav
      label={t('nav.server')}
      entries={serverPages
        .filter(({ permission }) => permission === null || can(permission))
        .map(({ page, name, icon }) => ({
          to: `/server/$server${page}`,
          params: { server: id },
          icon,
          text: t(`nav.${name}`),
          exact: page === '',
          // The trash is reached from the files, and belongs to them.
          isCurrent: page === '/files' && pathname.endsWith('/trash'),
        }))}
    />
  )
}
