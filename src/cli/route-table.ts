import { findMetadata, type RouteRow } from '../http/metadata.ts'
import { openApiPath } from '../http/openapi.ts'

/** One mounted route, as the table shows it. */
export type DescribedRoute = {
  method: string
  path: string
  credential: string
  permission: string
  /** `<name> <limit>/<seconds>s`; the limit is `*` when it is configurable. */
  throttles: string[]
  /** The status of success. */
  status: number
  summary: string
}

/** Describes a route by its metadata, with curly braces around the parameters of its path. */
export function describeRoute(row: RouteRow): DescribedRoute {
  return {
    method: row.method,
    path: openApiPath(row.path),
    credential: findMetadata(row, 'credential')?.name ?? '-',
    permission: findMetadata(row, 'permission')?.name ?? '-',
    throttles: row.metadata.flatMap((fact) =>
      fact.kind === 'throttle'
        ? [`${fact.name} ${fact.limit === 'configured' ? '*' : fact.limit}/${fact.seconds}s`]
        : [],
    ),
    status: findMetadata(row, 'returns')?.status ?? 0,
    summary: findMetadata(row, 'summary')?.text ?? '-',
  }
}

/** Formats routes as aligned columns with a heading, one per line. */
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
