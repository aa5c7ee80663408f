import { LayoutGrid, Rows3 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Scope } from '../api/servers.ts'
import { site } from '../app/site.ts'
import { IconButton } from '../components/button.tsx'
import { SelectField } from '../components/field.tsx'
import { SearchBox } from '../components/search-box.tsx'
import { type HomeSearch, scopes, type Sort, sorts } from './home-search.ts'

export const views = ['cards', 'table'] as const
export type View = (typeof views)[number]

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
      <SearchBox
        label={t('search')}
        text={search.q ?? ''}
        onSearch={(text) => onChange({ q: text || undefined, page: undefined })}
        className="grow basis-full sm:basis-64"
      />
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
