import i18next from 'i18next'
import {
  Egg as EggIcon,
  HardDrive,
  type LucideIcon,
  Server as ServerIcon,
  User as UserIcon,
} from 'lucide-react'
import { adminGet, type AdminQuery } from '../api/admin.ts'
import { rowsOf } from '../api/resources.ts'
import { loadTexts } from '../app/texts.ts'
import { fetchEggs } from './form/choice-sources.ts'
import { can } from './levels.ts'
import { listNavPages } from './pages.ts'
import type { Node, PageOf, Server, User } from './resources.ts'

/** A command that opens a page of administrators. */
export type AdminCommand = {
  id: string
  icon: LucideIcon
  text: string
  hint: string
  path: string
  isPage?: boolean
}

const maxResults = 5

/** Returns the pages of administrators, and what a text finds: servers, users, nodes and eggs. */
export async function findAdminCommands(search: string, signal: AbortSignal): Promise<AdminCommand[]> {
  await loadTexts('admin')
  const pages = listNavPages().map(({ path, name, icon }): AdminCommand => ({
    id: `admin-${name}`,
    icon,
    text: i18next.t(`admin:nav.${name}`),
    hint: i18next.t('admin:title'),
    path,
    isPage: true,
  }))
  if (search === '') return pages
  const found = await Promise.all([
    can('servers', 'read') ? findServers(search, signal) : [],
    can('users', 'read') ? findUsers(search, signal) : [],
    can('nodes', 'read') ? findNodes(search, signal) : [],
    can('eggs', 'read') ? findEggs(search, signal) : [],
  ])
  return [...found.flat(), ...pages]
}

/** Fetches rows by text, and the one with the id where the text is a number; none when that fails. */
async function rowsBy<Row extends { id: number }>(
  path: string,
  search: string,
  signal: AbortSignal,
): Promise<Row[]> {
  const fetchRows = (query: AdminQuery) =>
    adminGet<PageOf<Row>>(path, { ...query, per_page: maxResults }, signal).then(rowsOf)
  const lists = await Promise.all([
    /^\d{1,9}$/.test(search) ? fetchRows({ 'filter[id]': search }) : [],
    fetchRows({ search }),
  ]).catch(() => [])
  return [...new Map(lists.flat().map((row) => [row.id, row])).values()]
}

const findServers = async (search: string, signal: AbortSignal): Promise<AdminCommand[]> =>
  (await rowsBy<Server>('/servers', search, signal)).map(({ id, name, identifier }) => ({
    id: `admin-server-${id}`,
    icon: ServerIcon,
    text: name,
    hint: `${i18next.t('strings:word.server')} · ${identifier}`,
    path: `servers/${id}`,
  }))

const findUsers = async (search: string, signal: AbortSignal): Promise<AdminCommand[]> =>
  (await rowsBy<User>('/users', search, signal)).map(({ id, username, email }) => ({
    id: `admin-user-${id}`,
    icon: UserIcon,
    text: username,
    hint: email,
    path: `users/${id}`,
  }))

/** A node is also found by the address of its daemon with the port. */
const findNodes = async (search: string, signal: AbortSignal): Promise<AdminCommand[]> =>
  (await rowsBy<Node>('/nodes', search.replace(/:\d{1,5}$/, ''), signal)).map(({ id, name, fqdn }) => ({
    id: `admin-node-${id}`,
    icon: HardDrive,
    text: name,
    hint: fqdn,
    path: `nodes/${id}`,
  }))

async function findEggs(search: string, signal: AbortSignal): Promise<AdminCommand[]> {
  const wanted = search.toLowerCase()
  const eggs = await fetchEggs(signal).catch(() => [])
  return eggs
    .filter(
      ({ egg: { id, name, uuid } }) =>
        String(id) === wanted || name.toLowerCase().includes(wanted) || uuid.startsWith(wanted),
    )
    .slice(0, maxResults)
    .map(({ egg, nest }) => ({
      id: `admin-egg-${egg.id}`,
      icon: EggIcon,
      text: egg.name,
      hint: nest.name,
      path: `nests/${nest.id}/${egg.id}`,
    }))
}
