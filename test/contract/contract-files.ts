import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allPermissions, type Permission } from '../../src/domain/permissions.ts'
import type { RouteRow } from '../../src/http/facts.ts'
import { curlyPath } from '../../src/http/openapi.ts'

/** Lines of a file in this folder as tab-separated cells; blank lines and comments are left out. */
export function readRows(name: string): string[][] {
  return readFileSync(join(import.meta.dirname, name), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t'))
}

/** A route of the specification's table. */
export type SpecifiedRoute = {
  surface: string
  name: string
  shape: string
  permission: string
  /** Null where the table names none. */
  status: number | null
}

/** The specification's table. */
export const readSpecification = (): SpecifiedRoute[] => {
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

/** Method and path without the names of parameters: `GET /api/client/servers/{}`. */
export const shapeOf = (method: string, path: string): string =>
  `${method} ${path
    .replace('{force?}', 'force')
    .replace(/\{[^}]*\}/g, '{}')
    .replace(/(.)\/$/, '$1')}`

/** The same of a mounted route. */
export const mountedShape = ({ method, path }: RouteRow): string => shapeOf(method, curlyPath(path))

/** The permissions of subusers that a text names. */
export const permissionsIn = (text: string): Permission[] =>
  allPermissions.filter((name) => text.split(/[^\w.-]+/).includes(name))
