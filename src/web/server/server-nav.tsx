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
import { SideNav } from '../app/side-nav.tsx'
import { useServer } from './server-context.tsx'

/** Parts of a server, each with the permission without which it is not offered. */
export const serverPages = [
  { page: '', name: 'console', icon: SquareTerminal, needs: null },
  { page: '/files', name: 'files', icon: FolderOpen, needs: 'file.read' },
  { page: '/databases', name: 'databases', icon: Database, needs: 'database.read' },
  { page: '/schedules', name: 'schedules', icon: CalendarClock, needs: 'schedule.read' },
  { page: '/users', name: 'users', icon: Users, needs: 'user.read' },
  { page: '/backups', name: 'backups', icon: Archive, needs: 'backup.read' },
  { page: '/network', name: 'network', icon: Network, needs: 'allocation.read' },
  { page: '/startup', name: 'startup', icon: Rocket, needs: 'startup.read' },
  { page: '/settings', name: 'settings', icon: Settings, needs: null },
  { page: '/activity', name: 'activity', icon: History, needs: 'activity.read' },
] as const satisfies readonly { page: string; name: string; icon: LucideIcon; needs: string | null }[]

export function ServerNav() {
  const { t } = useTranslation('server')
  const { id, can } = useServer()
  return (
    <SideNav
      label={t('nav.server')}
      entries={serverPages
        .filter(({ needs }) => needs === null || can(needs))
        .map(({ page, name, icon }) => ({
          to: `/server/$server${page}`,
          params: { server: id },
          icon,
          text: t(`nav.${name}`),
          exact: page === '',
        }))}
    />
  )
}
