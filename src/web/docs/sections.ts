import type { ApiDocument, Operation } from '../api/openapi.ts'

export type ShownOperation = Operation & { method: string; path: string; searched: string }
export type Group = { name: string; id: string; operations: ShownOperation[] }
/** A surface of the panel. */
export type Section = { name: string; description: string; groups: Group[] }

/** What a path is about: its first words that are no parameters, without those of its surface. */
function groupOf(path: string): string {
  const words = path.split('/').filter((word) => word !== '' && !word.startsWith('{'))
  const own = words[0] === 'api' ? words.slice(2) : words
  return own.slice(0, 2).join('/') || '/'
}

/** Every operation below its surface and group, in the order of the document. */
export function sectionsOf(document: ApiDocument): Section[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): ShownOperation => {
      const shown = { ...operation, method: method.toUpperCase(), path }
      const texts = [shown.method, path, operation.summary, operation['x-permission'], operation.operationId]
      return { ...shown, searched: texts.join(' ').toLowerCase() }
    }),
  )
  const bySurface = Map.groupBy(operations, ({ tags }) => tags[0] ?? '')
  return document.tags.map(({ name, description }) => ({
    name,
    description,
    groups: [...Map.groupBy(bySurface.get(name) ?? [], ({ path }) => groupOf(path))].map(
      ([group, members]) => ({
        name: group,
        id: `group-${name}-${group.replaceAll(/[^a-z\d]+/gi, '-')}`,
        operations: members,
      }),
    ),
  }))
}

/** What is left when every word that was typed has to be found; without groups and sections in which nothing is. */
export function found(sections: readonly Section[], typed: string, surface: string | null): Section[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = ({ searched }: ShownOperation) => words.every((word) => searched.includes(word))
  return sections
    .filter(({ name }) => surface === null || name === surface)
    .map((section) => ({
      ...section,
      groups: section.groups
        .map((group) => ({ ...group, operations: group.operations.filter(fits) }))
        .filter(({ operations }) => operations.length > 0),
    }))
    .filter(({ groups }) => groups.length > 0)
}

export const countOf = (sections: readonly Section[]): number =>
  sections.reduce(
    (sum, { groups }) => sum + groups.reduce((all, { operations }) => all + operations.length, 0),
    0,
  )
