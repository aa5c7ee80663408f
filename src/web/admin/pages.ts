import {
  Boxes,
  Database,
  FolderSymlink,
  Gauge,
  HardDrive,
  History,
  KeyRound,
  ListTodo,
  type LucideIcon,
  MapPin,
  Megaphone,
  PackageOpen,
  Server,
  Settings,
  ShieldCheck,
  Users,
} from 'lucide-react'
import { type ComponentType, lazy } from 'react'
import { site } from '../app/site.ts'
import { can, type Resource } from './levels.ts'

/** Values of the variable parts of a page's path. */
export type PageParams = Record<string, string>
type PageComponent = ComponentType<{ params: PageParams }>

type AdminPageDefinition = {
  /** Below `/admin/`; a part with a dollar is variable. */
  path: string
  /** The level that the page needs; null for every administrator. */
  needs: readonly [Resource, 'read' | 'write'] | null
  component: PageComponent
}

const page = (
  path: string,
  needs: AdminPageDefinition['needs'],
  load: () => Promise<PageComponent>,
): AdminPageDefinition => ({
  path,
  needs,
  component: lazy(async () => ({ default: await load() })),
})

/** The pages of administrators, each with its own code. */
const adminPages: readonly AdminPageDefinition[] = [
  page('', null, async () => (await import('./panel/overview-page.tsx')).OverviewPage),
  page('servers', ['servers', 'read'], async () => (await import('./servers/servers-page.tsx')).ServersPage),
  page(
    'servers/new',
    ['servers', 'write'],
    async () => (await import('./servers/new-server-page.tsx')).NewServerPage,
  ),
  page(
    'servers/$id',
    ['servers', 'read'],
    async () => (await import('./servers/server-page.tsx')).ServerPage,
  ),
  page(
    'servers/$id/$part',
    ['servers', 'read'],
    async () => (await import('./servers/server-page.tsx')).ServerPage,
  ),
  page(
    'bulk-operations',
    ['servers', 'read'],
    async () => (await import('./bulk/bulk-operations-page.tsx')).BulkOperationsPage,
  ),
  page(
    'bulk-operations/$id',
    ['servers', 'read'],
    async () => (await import('./bulk/bulk-operation-page.tsx')).BulkOperationPage,
  ),
  page('nodes', ['nodes', 'read'], async () => (await import('./nodes/nodes-page.tsx')).NodesPage),
  page('nodes/new', ['nodes', 'write'], async () => (await import('./nodes/node-form.tsx')).NewNodePage),
  page('nodes/$id', ['nodes', 'read'], async () => (await import('./nodes/node-page.tsx')).NodePage),
  page('nodes/$id/$part', ['nodes', 'read'], async () => (await import('./nodes/node-page.tsx')).NodePage),
  page(
    'locations',
    ['locations', 'read'],
    async () => (await import('./locations/locations-page.tsx')).LocationsPage,
  ),
  page('nests', ['nests', 'read'], async () => (await import('./eggs/nests-page.tsx')).NestsPage),
  page('nests/$nest/$egg', ['eggs', 'read'], async () => (await import('./eggs/egg-page.tsx')).EggPage),
  page('users', ['users', 'read'], async () => (await import('./users/users-page.tsx')).UsersPage),
  page('users/new', ['users', 'write'], async () => (await import('./users/user-form.tsx')).NewUserPage),
  page('users/$id', ['users', 'read'], async () => (await import('./users/user-page.tsx')).UserPage),
  page('users/$id/$part', ['users', 'read'], async () => (await import('./users/user-page.tsx')).UserPage),
  page('roles', ['administrators', 'read'], async () => (await import('./roles/roles-page.tsx')).RolesPage),
  page('keys', ['api_keys', 'read'], async () => (await import('./panel/keys-page.tsx')).KeysPage),
  page(
    'database-hosts',
    ['database_hosts', 'read'],
    async () => (await import('./panel/database-hosts-page.tsx')).DatabaseHostsPage,
  ),
  page('setup', ['settings', 'read'], async () => (await import('./setup/setup-page.tsx')).SetupPage),
  page('setup/$step', ['settings', 'read'], async () => (await import('./setup/setup-page.tsx')).SetupPage),
  page('mounts', ['mounts', 'read'], async () => (await import('./mounts/mounts-page.tsx')).MountsPage),
  page('mounts/$id', ['mounts', 'read'], async () => (await import('./mounts/mount-page.tsx')).MountPage),
  page(
    'announcements',
    ['announcements', 'read'],
    async () => (await import('./announcements/announcements-page.tsx')).AnnouncementsPage,
  ),
  page(
    'announcements/$id',
    ['announcements', 'read'],
    async () => (await import('./announcements/announcement-page.tsx')).AnnouncementPage,
  ),
  page('jobs', ['jobs', 'read'], async () => (await import('./panel/jobs-page.tsx')).JobsPage),
  page(
    'activity',
    ['activity', 'read'],
    async () => (await import('./panel/activity-page.tsx')).ActivityPage,
  ),
  page(
    'settings',
    ['settings', 'read'],
    async () => (await import('./panel/settings-page.tsx')).SettingsPage,
  ),
  page(
    'settings/$id',
    ['settings', 'read'],
    async () => (await import('./panel/settings-page.tsx')).SettingsPage,
  ),
  page('move-in', ['settings', 'read'], async () => (await import('./move-in/move-in-page.tsx')).MoveInPage),
]

export type NavGroup = 'hosting' | 'games' | 'access' | 'panel'
type NavPage = {
  path: string
  name: string
  group: NavGroup
  icon: LucideIcon
  needs: Resource | null
  isForRoot?: boolean
}

/** The pages of the navigation, by groups. */
const navPages: readonly NavPage[] = [
  { path: '', name: 'overview', group: 'hosting', icon: Gauge, needs: null },
  { path: 'servers', name: 'servers', group: 'hosting', icon: Server, needs: 'servers' },
  { path: 'nodes', name: 'nodes', group: 'hosting', icon: HardDrive, needs: 'nodes' },
  { path: 'locations', name: 'locations', group: 'hosting', icon: MapPin, needs: 'locations' },
  { path: 'nests', name: 'nests', group: 'games', icon: Boxes, needs: 'nests' },
  { path: 'database-hosts', name: 'database_hosts', group: 'games', icon: Database, needs: 'database_hosts' },
  { path: 'mounts', name: 'mounts', group: 'games', icon: FolderSymlink, needs: 'mounts' },
  { path: 'users', name: 'users', group: 'access', icon: Users, needs: 'users' },
  { path: 'roles', name: 'roles', group: 'access', icon: ShieldCheck, needs: 'administrators' },
  { path: 'keys', name: 'keys', group: 'access', icon: KeyRound, needs: 'api_keys' },
  {
    path: 'announcements',
    name: 'announcements',
    group: 'panel',
    icon: Megaphone,
    needs: 'announcements',
  },
  { path: 'jobs', name: 'jobs', group: 'panel', icon: ListTodo, needs: 'jobs' },
  { path: 'activity', name: 'activity', group: 'panel', icon: History, needs: 'activity' },
  { path: 'settings', name: 'settings', group: 'panel', icon: Settings, needs: 'settings' },
  { path: 'move-in', name: 'move_in', group: 'panel', icon: PackageOpen, needs: 'settings', isForRoot: true },
]

export const listNavPages = (): NavPage[] =>
  navPages.filter(
    ({ needs, isForRoot }) =>
      (needs === null || can(needs, 'read')) && (!isForRoot || site.user?.root_admin === true),
  )

/** Finds the page of a path, and the values of its variable parts. Returns null for none, or one above the levels. */
export function findAdminPage(path: string): { component: PageComponent; params: PageParams } | null {
  const parts = path.split('/').filter(Boolean)
  for (const { path: pattern, needs, component } of adminPages) {
    const params = matchPath(pattern, parts)
    if (params) return needs === null || can(...needs) ? { component, params } : null
  }
  return null
}

function matchPath(pattern: string, parts: readonly string[]): PageParams | null {
  const wanted = pattern.split('/').filter(Boolean)
  if (wanted.length !== parts.length) return null
  const params: PageParams = {}
  for (const [at, name] of wanted.entries()) {
    const part = parts[at] ?? ''
    if (name.startsWith('$')) params[name.slice(1)] = part
    else if (name !== part) return null
  }
  return params
}
