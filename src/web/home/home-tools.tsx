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

/** Milliseconds without a key after which it is searched. */
const pause = 250

type Change = (change: { [Key in keyof HomeSearch]: HomeSearch[Key] | undefined }) => void

/** What is searched for, which servers are meant, their order, and how they are shown. */
export function HomeTools({
  search,
  onChange,
  view,
  onView,
}: {
  search: HomeSearch
  onChange: Change
  view: View
  onView: (view: View) => void
}) {
  const { t } = useTranslation('home')
  const offered = scopes.filter((scope) => site.user?.root_admin || !scope.startsWith('admin'))
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
        {offered.map((scope) => (
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
            look={view === name ? 'plain' : 'quiet'}
            onClick={() => onView(name)}
          />
        ))}
      </div>
    </search>
  )
}

function SearchBox({ text, onChange }: { text: string; onChange: Change }) {
  const { t } = useTranslation('home')
  const [box, setBox] = useState({ written: text, sent: text, seen: text })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The address changed: by what was written here, or by another link, which then is what is shown.
  if (box.seen !== text) setBox({ written: text === box.sent ? box.written : text, sent: text, seen: text })
  const write = (written: string) => {
    setBox({ ...box, written })
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      setBox((now) => ({ ...now, sent: written }))
      onChange({ q: written || undefined, page: undefined })
    }, pause)
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
        value={box.written}
        onChange={({ target }) => write(target.value)}
        autoComplete="off"
        spellCheck={false}
        className={`${controlStyle} pl-9`}
      />
    </div>
  )
}
