import type { ApiDocument, Operation } from '../api/openapi.ts'

export type DocumentedOperation = Operation & { method: string; path: string; searchText: string }
export type Group = { name: string; id: string; operations: DocumentedOperation[] }
/** A surface of the panel. */
export type Section = { name: string; description: string; groups: Group[] }

/** A larger group is split by the second segment of its paths. */
const maxGroupSize = 20

/** Returns the first segments of a path, without parameters and the prefix of the surface. */
function pathPrefix(path: string, count: number): string {
  const segments = path.split('/').filter((segment) => segment !== '' && !segment.startsWith('{'))
  const own = segments[0] === 'api' ? segments.slice(2) : segments
  return own.slice(0, count).join('/') || '/'
}

/** Groups operations by the first segments of their paths. */
function groupsOf(surface: string, operations: readonly DocumentedOperation[]): Group[] {
  const sizes = Map.groupBy(operations, ({ path }) => pathPrefix(path, 1))
  const groups = Map.groupBy(operations, ({ path }) => {
    const size = sizes.get(pathPrefix(path, 1))?.length ?? 0
    return pathPrefix(path, size > maxGroupSize ? 2 : 1)
  })
  return [...groups]
    .map(([name, members]) => ({
      name,
      id: `group-${surface}-${name.replaceAll(/[^a-z\d]+/gi, '-')}`,
      operations: members,
    }))
    .toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
}

/** Returns the operations of the document by surface and group. */
export function sectionsOf(document: ApiDocument): Section[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): DocumentedOperation => {
      const shown = { ...operation, method: method.toUpperCase(), path }
      const texts = [shown.method, path, operation.summary, operation['x-permission'], operation.operationId]
      return { ...shown, searchText: texts.join(' ').toLowerCase() }
    }),
  )
  const bySurface = Map.groupBy(operations, ({ tags }) => tags[0] ?? '')
  return document.tags.map(({ name, description }) => ({
    name,
    description,
    groups: groupsOf(name, bySurface.get(name) ?? []),
  }))
}

/** Returns the operations that contain every word of the input, without empty groups and sections. */
export function filterSections(
  sections: readonly Section[],
  input: string,
  surface: string | null,
): Section[] {
  const segments = input.toLowerCase().split(/\s+/).filter(Boolean)
  const matches = ({ searchText }: DocumentedOperation) =>
    segments.every((segment) => searchText.includes(segment))
  return sections
    .filter(({ name }) => surface === null || name === surface)
    .map((section) => ({
      ...section,
      groups: section.groups
        .map((group) => ({ ...group, operations: group.operations.filter(matches) }))
        .filter(({ operations }) => operations.length > 0),
    }))
    .filter(({ groups }) => groups.length > 0)
}

export const countOf = (sections: readonly Section[]): number =>
  sections.reduce(
    (sum, { groups }) => sum + groups.reduce((all, { operations }) => all + operations.length, 0),
    0,
  )
