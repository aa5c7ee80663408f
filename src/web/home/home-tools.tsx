import { LayoutGrid, Rows3, Search } from 'lucide-react'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Scope } from '../api/servers.ts'
import { site } from '../app/site.ts'
import { IconButton } from '../components/button.tsx'
import { controlStyle, SelectField } from '../components/field.tsx'
import { type HomeSearch, scopes, type Sort, sorts } from './home-search.ts'

export const views = ['cards', 'table'] as const
export type View = (typeof views)[number]

/** How long typing has to pause before the search starts. */
const searchDelayMs = 250

type ChangeSearch = (change: { [Key in keyof HomeSearch]: HomeSearch[Key] | undefined }) => void

/** The search, scope, sort order and view of the server list. */
export function HomeTools({
  search,
  onChange,
  view,
  onViewChange,
}: {
  search: HomeSearch
  onChange: ChangeSearch
  view: View
  onViewChange: (view: View) => void
}) {
  const { t } = useTranslation('home')
  const visibleScopes = scopes.filter((scope) => site.user?.root_admin || !scope.startsWith('admin'))
  return (
    <search className="flex flex-wrap items-end gap-2 pb-4">
      <SearchBox text={search.q ?? ''} onChange={onChange} />
      <SelectField
        label={t('scope.label')}
        hideLabel
        className="min-w-0 grow basis-36 sm:grow-0 sm:basis-52"
        value={search.scope ?? 'accessible'}
        onChange={({ target }) => onChange({ scope: target.value as Scope, page: undefined })}
      >
        {visibleScopes.map((scope) => (
          <option key={scope} value={scope}>
            {t(`scope.${scope}`)}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={t('sort.label')}
        hideLabel
        className="min-w-0 grow basis-36 sm:grow-0 sm:basis-52"
        value={search.sort ?? 'listed'}
        onChange={({ target }) => onChange({ sort: target.value as Sort })}
      >
        {sorts.map((sort) => (
          <option key={sort} value={sort}>
            {t(`sort.${sort}`)}
          </option>
        ))}
      </SelectField>
      <div role="group" aria-label={t('view.label')} className="hidden gap-1 md:flex">
        {views.map((name) => (
          <IconButton
            key={name}
            icon={name === 'cards' ? LayoutGrid : Rows3}
            label={t(`view.${name}`)}
            aria-pressed={view === name}
            variant={view === name ? 'plain' : 'quiet'}
            onClick={() => onViewChange(name)}
          />
        ))}
      </div>
    </search>
  )
}

function SearchBox({ text, onChange }: { text: string; onChange: ChangeSearch }) {
  const { t } = useTranslation('home')
  const [box, setBox] = useState({ text, sent: text, seen: text })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The URL changed, either by this field or by another link. Only another link replaces the text.
  if (box.seen !== text) setBox({ text: text === box.sent ? box.text : text, sent: text, seen: text })
  const change = (text: string) => {
    setBox({ ...box, text })
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      setBox((now) => ({ ...now, sent: text }))
      onChange({ q: text || undefined, page: undefined })
    }, searchDelayMs)
  }
  return (
    <div className="relative min-w-0 grow basis-full sm:basis-64">
      <Search aria-hidden className="pointer-events-none absolute top-2.5 left-3 size-4 text-muted" />
      <input
        type="search"
        data-page-search
        aria-label={t('search')}
        aria-keyshortcuts="/"
        placeholder={t('search')}
        value={box.text}
        onChange={({ target }) => change(target.value)}
        autoComplete="off"
        spellCheck={false}
        className={`${controlStyle} pl-9`}
      />
    </div>
  )
}
