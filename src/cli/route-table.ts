import { factOfKind, type RouteRow } from '../http/facts.ts'
import { curlyPath } from '../http/openapi.ts'

/** One mounted route in words. */
export type DescribedRoute = {
  method: string
  path: string
  credential: string
  permission: string
  /** `<name> <limit>/<seconds>s`; the limit is `*` where it is configured. */
  throttles: string[]
  /** Of the success. */
  status: number
  summary: string
}

/** What a route states about itself, its path with curly parameters. */
export function describeRoute(row: RouteRow): DescribedRoute {
  return {
    method: row.method,
    path: curlyPath(row.path),
    credential: factOfKind(row, 'credential')?.name ?? '-',
    permission: factOfKind(row, 'permission')?.name ?? '-',
    throttles: row.facts.flatMap((fact) =>
      fact.kind === 'throttle' ? [`${fact.name} ${fact.limit || '*'}/${fact.seconds}s`] : [],
    ),
    status: factOfKind(row, 'returns')?.status ?? 0,
    summary: factOfKind(row, 'summary')?.text ?? '-',
  }
}

/** Routes as aligned columns under a heading, one line each. */
export function routeTable(routes: DescribedRoute[]): string {
  const heading = ['METHOD', 'PATH', 'CREDENTIAL', 'PERMISSION', 'THROTTLE', 'STATUS', 'SUMMARY']
  const lines = [heading, ...routes.map(cellsOf)]
  const widths = heading.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)))
  const aligned = lines.map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)))
  return aligned.map((cells) => `${cells.join('  ').trimEnd()}\n`).join('')
}

const cellsOf = ({ method, path, credential, permission, throttles, status, summary }: DescribedRoute) => [
  method,
  path,
  credential,
  permission,
  throttles.join(', ') || '-',
  String(status),
  summary,
]
