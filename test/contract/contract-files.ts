import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allPermissions, type Permission } from '../../src/domain/permissions.ts'
import type { RouteRow } from '../../src/http/metadata.ts'
import { openApiPath } from '../../src/http/openapi.ts'

/** Reads the lines of a file in this folder as tab-separated cells; skips blank lines and comments. */
export function readRows(name: string): string[][] {
  return readFileSync(join(import.meta.dirname, name), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t'))
}

/** A row of routes.tsv, the routes of the Pterodactyl API. */
export type ContractRoute = {
  surface: string
  name: string
  shape: string
  permission: string
  /** Null where the table names none. */
  status: number | null
}

/** Reads routes.tsv. */
export const readContractRoutes = (): ContractRoute[] => {
  const rows = readRows('routes.tsv')
  const creating =
    rows.find(([, method, path]) => method === 'POST' && path?.endsWith('{schedule}/tasks'))?.[3] ?? ''
  return rows.map(([surface = '', method = '', path = '', permission = '', status = '']) => ({
    surface,
    name: `${method} ${path}`,
    shape: shapeOf(method, path),
    permission: permission === 'same as create task' ? creating : permission,
    status: /^\d{3}/.test(status) ? Number(status.slice(0, 3)) : null,
  }))
}

/** Formats method and path without the names of parameters: `GET /api/client/servers/{}`. */
export const shapeOf = (method: string, path: string): string =>
  `${method} ${path
    .replace('{force?}', 'force')
    .replace(/\{[^}]*\}/g, '{}')
    .replace(/(.)\/$/, '$1')}`

/** Formats a mounted route in the same way. */
export const mountedShape = ({ method, path }: RouteRow): string => shapeOf(method, openApiPath(path))

/** Lists the subuser permissions that a text names. */
export const permissionsIn = (text: string): Permission[] =>
  allPermissions.filter((name) => text.split(/[^\w.-]+/).includes(name))
