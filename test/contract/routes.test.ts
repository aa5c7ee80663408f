import { describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { findMetadata, type RouteRow } from '../../src/http/metadata.ts'
import {
  mountedShape,
  permissionsIn,
  readRows,
  readContractRoutes,
  shapeOf,
  type ContractRoute,
} from './contract-files.ts'

const shapeOfName = (name: string) => {
  const [method = '', path = ''] = name.split(' ')
  return shapeOf(method, path)
}

const mounted = new Map(listMountedRoutes().map((row) => [mountedShape(row), row]))
const contract = readContractRoutes()
const pending = readRows('pending.txt').map(([name = '']) => name)
const extensions = readRows('extensions.txt')
const exceptions = new Map(
  readRows('exceptions.txt').map(([name = '', permission = '']) => [name, permission]),
)

/** Returns the permission metadata that the table requires; null where it leaves that open. */
function wantedPermission({ surface, name, permission }: ContractRoute): string | null {
  const exception = exceptions.get(name)
  if (exception !== undefined) return exception
  if (permission === 'not shown') return null
  if (permission === '-') return surface === 'client' ? 'any account' : null
  return permission === 'access' ? 'access to server' : permission
}

/** Checks that metadata is as required: equal, or for subusers with the same permissions. */
function says(permission: string, wanted: string): boolean {
  const [named, asked] = [permissionsIn(permission), permissionsIn(wanted)]
  if (asked.length === 0) return permission === wanted
  const areMoreAllowed = wanted.includes('plus the permission')
  return asked.every((each) => named.includes(each)) && (areMoreAllowed || named.length === asked.length)
}

/** Lists the differences between a row of the table and the mounted route. */
function differences(row: ContractRoute, route: RouteRow): string[] {
  const permission = findMetadata(route, 'permission')?.name ?? ''
  const status = findMetadata(route, 'returns')?.status
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

describe('the routes of routes.tsv', () => {
  it('are each named once', () => {
    expect(contract.length).toBe(150)
    expect(new Set(contract.map(({ shape }) => shape)).size).toBe(contract.length)
  })

  it('are mounted, or named as pending', () => {
    const missing = contract.filter(({ name, shape }) => !mounted.has(shape) && !pending.includes(name))
    expect(missing.map(({ name }) => name)).toEqual([])
  })

  it('are not pending any more once they are mounted', () => {
    expect(pending.filter((name) => mounted.has(shapeOfName(name)))).toEqual([])
  })

  it('need the permission and answer with the status of the table', () => {
    const wrong = contract.flatMap((row) => {
      const route = mounted.get(row.shape)
      return route ? differences(row, route) : []
    })
    expect(wrong).toEqual([])
  })
})

describe('the lists of this folder', () => {
  it('name as pending only what the table or the extensions name', () => {
    const known = new Set([...contract.map(({ name }) => name), ...extensions.map(([name]) => name)])
    expect(pending.filter((name) => !known.has(name))).toEqual([])
  })

  it('give a reason for each mounted route that the table does not have', () => {
    const shapes = new Set([
      ...contract.map(({ shape }) => shape),
      ...extensions.map(([name = '']) => shapeOfName(name)),
    ])
    expect([...mounted.keys()].filter((shape) => !shapes.has(shape))).toEqual([])
    expect(extensions.filter(([, reason = '']) => reason.length < 10)).toEqual([])
  })

  it('name as extensions only what is mounted or pending, and not in the table', () => {
    const tabled = new Set(contract.map(({ shape }) => shape))
    const stale = extensions.filter(
      ([name = '']) => !mounted.has(shapeOfName(name)) && !pending.includes(name),
    )
    expect(stale).toEqual([])
    expect(extensions.filter(([name = '']) => tabled.has(shapeOfName(name)))).toEqual([])
  })

  it('make exceptions only of mounted or pending routes, each with a reason', () => {
    const names = new Set(contract.map(({ name }) => name))
    expect([...exceptions.keys()].filter((name) => !names.has(name))).toEqual([])
    expect(readRows('exceptions.txt').filter(([, , reason = '']) => reason.length < 10)).toEqual([])
  })
})
