import { describe, expect, it } from 'vitest'
import { mountedRoutes } from '../../src/cli/api-info.ts'
import { factOfKind, type RouteRow } from '../../src/http/facts.ts'
import {
  mountedShape,
  permissionsIn,
  readRows,
  readSpecification,
  shapeOf,
  type SpecifiedRoute,
} from './contract-files.ts'

const shapeOfName = (name: string) => {
  const [method = '', path = ''] = name.split(' ')
  return shapeOf(method, path)
}

const mounted = new Map(mountedRoutes().map((row) => [mountedShape(row), row]))
const specified = readSpecification()
const pending = readRows('pending.txt').map(([name = '']) => name)
const extensions = readRows('extensions.txt')
const exceptions = new Map(
  readRows('exceptions.txt').map(([name = '', permission = '']) => [name, permission]),
)

/** The permission fact that the table asks for; null where it leaves that open. */
function wantedPermission({ surface, name, permission }: SpecifiedRoute): string | null {
  const exception = exceptions.get(name)
  if (exception !== undefined) return exception
  if (permission === 'not shown') return null
  if (permission === '-') return surface === 'client' ? 'any account' : null
  return permission === 'access' ? 'access to server' : permission
}

/** Whether a fact says what is wanted: to the letter, or for subusers by naming the same permissions. */
function says(permission: string, wanted: string): boolean {
  const [named, asked] = [permissionsIn(permission), permissionsIn(wanted)]
  if (asked.length === 0) return permission === wanted
  const areMoreAllowed = wanted.includes('plus the permission')
  return asked.every((each) => named.includes(each)) && (areMoreAllowed || named.length === asked.length)
}

/** Differences between a row of the table and the route that is mounted in its place. */
function differences(row: SpecifiedRoute, route: RouteRow): string[] {
  const permission = factOfKind(route, 'permission')?.name ?? ''
  const status = factOfKind(route, 'returns')?.status
  const wanted = wantedPermission(row)
  return [
    ...(wanted === null || says(permission, wanted)
      ? []
      : [`${row.name} needs "${permission}", not "${wanted}"`]),
    ...(row.status === null || row.status === status
      ? []
      : [`${row.name} answers ${status}, not ${row.status}`]),
  ]
}

describe('the routes of the specification', () => {
  it('are each named once', () => {
    expect(specified.length).toBe(150)
    expect(new Set(specified.map(({ shape }) => shape)).size).toBe(specified.length)
  })

  it('are mounted, or named as pending', () => {
    const missing = specified.filter(({ name, shape }) => !mounted.has(shape) && !pending.includes(name))
    expect(missing.map(({ name }) => name)).toEqual([])
  })

  it('are not pending any more once they are mounted', () => {
    expect(pending.filter((name) => mounted.has(shapeOfName(name)))).toEqual([])
  })

  it('need the permission and answer with the status of the table', () => {
    const wrong = specified.flatMap((row) => {
      const route = mounted.get(row.shape)
      return route ? differences(row, route) : []
    })
    expect(wrong).toEqual([])
  })
})

describe('the lists of this folder', () => {
  it('name as pending only what the table or the extensions name', () => {
    const known = new Set([...specified.map(({ name }) => name), ...extensions.map(([name]) => name)])
    expect(pending.filter((name) => !known.has(name))).toEqual([])
  })

  it('give a reason for each mounted route that the table does not have', () => {
    const shapes = new Set([
      ...specified.map(({ shape }) => shape),
      ...extensions.map(([name = '']) => shapeOfName(name)),
    ])
    expect([...mounted.keys()].filter((shape) => !shapes.has(shape))).toEqual([])
    expect(extensions.filter(([, reason = '']) => reason.length < 10)).toEqual([])
  })

  it('name as extensions only what is mounted or pending, and not in the table', () => {
    const tabled = new Set(specified.map(({ shape }) => shape))
    const stale = extensions.filter(
      ([name = '']) => !mounted.has(shapeOfName(name)) && !pending.includes(name),
    )
    expect(stale).toEqual([])
    expect(extensions.filter(([name = '']) => tabled.has(shapeOfName(name)))).toEqual([])
  })

  it('make exceptions only of mounted or pending routes, each with a reason', () => {
    const names = new Set(specified.map(({ name }) => name))
    expect([...exceptions.keys()].filter((name) => !names.has(name))).toEqual([])
    expect(readRows('exceptions.txt').filter(([, , reason = '']) => reason.length < 10)).toEqual([])
  })
})
