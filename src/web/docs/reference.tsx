import { Search, SearchX } from 'lucide-react'
import { useDeferredValue, useMemo, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import type { ApiDocument } from '../api/openapi.ts'
import { Button, buttonStyle } from '../components/button.tsx'
import { classNames } from '../components/class-names.ts'
import { controlStyle } from '../components/field.tsx'
import { EmptyState } from '../components/states.tsx'
import { OperationRow } from './operation-row.tsx'
import { countOf, filterSections, type Section, sectionsOf } from './sections.ts'
import { useOpenOperations } from './use-open-operations.ts'

/** Lists the operations of the document, with a search, a filter by surface and a table of contents. */
export function Reference({ document }: { document: ApiDocument }) {
  const { t } = useTranslation('docs')
  const sections = useMemo(() => sectionsOf(document), [document])
  const [input, setInput] = useState('')
  const [surface, setSurface] = useState<string | null>(null)
  const search = useDeferredValue(input)
  const shown = useMemo(() => filterSections(sections, search, surface), [sections, search, surface])
  const [opened, toggle] = useOpenOperations()
  return (
    <div className="flex min-w-0 gap-8">
      <Contents sections={shown} />
      <div className="flex min-w-0 flex-1 flex-col gap-4">
        <SearchField value={input} onChange={setInput} />
        <Surfaces names={sections.map(({ name }) => name)} value={surface} onChange={setSurface} />
        <p role="status" className="text-sm text-muted">
          {t('count', { count: countOf(shown) })}
        </p>
        {shown.length === 0 && (
          <EmptyState icon={SearchX} title={t('nothing_found')} text={t('nothing_found_text')}>
            <Button onClick={() => setInput('')}>{t('clear')}</Button>
          </EmptyState>
        )}
        {shown.map((section) => (
          <SurfaceSection
            key={section.name}
            document={document}
            section={section}
            opened={opened}
            onToggle={toggle}
          />
        ))}
      </div>
    </div>
  )
}

function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { t } = useTranslation('docs')
  return (
    <div className="relative">
      <Search aria-hidden className="pointer-events-none absolute top-2.5 start-3 size-4 text-muted" />
      <input
        type="search"
        data-page-search
        aria-label={t('search')}
        placeholder={t('search_hint')}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        className={classNames(controlStyle, 'ps-9')}
        spellCheck={false}
      />
    </div>
  )
}

function Surfaces({
  names,
  value,
  onChange,
}: {
  names: readonly string[]
  value: string | null
  onChange: (name: string | null) => void
}) {
  const { t } = useTranslation('docs')
  return (
    <div role="group" aria-label={t('surfaces')} className="flex flex-wrap gap-2">
      {[null, ...names].map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={value === name}
          onClick={() => onChange(name)}
          className={buttonStyle(value === name ? 'primary' : 'plain')}
        >
          {name ?? t('all')}
        </button>
      ))}
    </div>
  )
}

/** The table of contents; hidden on phones. */
function Contents({ sections }: { sections: readonly Section[] }) {
  const { t } = useTranslation('docs')
  return (
    <nav aria-label={t('contents')} className="hidden w-56 shrink-0 lg:block">
      <div className="sticky top-18 flex max-h-[calc(100dvh-6rem)] flex-col gap-4 overflow-y-auto pb-4 text-sm">
        {sections.map(({ name, groups }) => (
          <div key={name}>
            <p className="px-2 pb-1 font-semibold">{name}</p>
            <ul>
              {groups.map((group) => (
                <li key={group.id}>
                  <a
                    href={`#${group.id}`}
                    className="block rounded-control px-2 py-2 font-mono text-xs text-muted wrap-anywhere hover:bg-raised hover:text-ink"
                  >
                    {group.name}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </nav>
  )
}

function SurfaceSection({
  document,
  section: { name, description, groups },
  opened,
  onToggle,
}: {
  document: ApiDocument
  section: Section
  opened: ReadonlySet<string>
  onToggle: (id: string) => void
}) {
  return (
    <section aria-label={name} className="flex min-w-0 flex-col gap-4">
      <header lang="en">
        <h2 className="text-lg font-semibold">{name}</h2>
        <p className="text-sm text-muted">{description}</p>
      </header>
      {groups.map((group) => (
        <div key={group.id} id={group.id} className="min-w-0 scroll-mt-18">
          <h3 className="mb-2 font-mono text-sm font-semibold">{group.name}</h3>
          <ul
            aria-label={group.name}
            className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface"
          >
            {group.operations.map((operation) => (
              <OperationRow
                key={operation.operationId}
                document={document}
                operation={operation}
                isOpen={opened.has(operation.operationId)}
                onToggle={onToggle}
              />
            ))}
          </ul>
        </div>
      ))}
    </section>
  )
}
