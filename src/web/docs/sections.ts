import type { ApiDocument, Operation } from '../api/openapi.ts'

export type ShownOperation = Operation & { method: string; path: string; searched: string }
export type Group = { name: string; id: string; operations: ShownOperation[] }
/** A surface of the panel. */
export type Section = { name: string; description: string; groups: Group[] }

/** A group of more is parted by the second word of its paths. */
const largestGroup = 20

/** So many words of a path, without parameters and those of its surface. */
function wordsOf(path: string, amount: number): string {
  const words = path.split('/').filter((word) => word !== '' && !word.startsWith('{'))
  const own = words[0] === 'api' ? words.slice(2) : words
  return own.slice(0, amount).join('/') || '/'
}

/** Operations by what their paths are about. */
function groupsOf(surface: string, operations: readonly ShownOperation[]): Group[] {
  const sizes = Map.groupBy(operations, ({ path }) => wordsOf(path, 1))
  const groups = Map.groupBy(operations, ({ path }) => {
    const size = sizes.get(wordsOf(path, 1))?.length ?? 0
    return wordsOf(path, size > largestGroup ? 2 : 1)
  })
  return [...groups]
    .map(([name, members]) => ({
      name,
      id: `group-${surface}-${name.replaceAll(/[^a-z\d]+/gi, '-')}`,
      operations: members,
    }))
    .toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
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
    groups: groupsOf(name, bySurface.get(name) ?? []),
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
