import { LayoutGrid, Rows3 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Scope } from '../api/servers.ts'
import { site } from '../app/site.ts'
import { IconButton } from '../components/button.tsx'
import { SelectField } from '../components/field.tsx'
import { SearchBox } from '../components/search-box.tsx'
import { type HomeSearch, scopes, type Sort, sorts, states } from './home-search.ts'

export const views = ['cards', 'table'] as const
export type View = (typeof views)[number]

/** A change of the search parameters; undefined restores the default. */
export type HomeChange = { [Key in keyof HomeSearch]: HomeSearch[Key] | undefined }

const select = 'min-w-0 grow basis-36 sm:grow-0'

/** The search, scope, filters, sort order and view of the server list; `nodes` are those of the servers shown. */
export function HomeTools({
  search,
  nodes,
  onChange,
  view,
  onViewChange,
}: {
  search: HomeSearch
  nodes: readonly string[]
  onChange: (change: HomeChange) => void
  view: View
  onViewChange: (view: View) => void
}) {
  const { t } = useTranslation('home')
  const nodeChoices = [...new Set([...(search.node ? [search.node] : []), ...nodes])].toSorted()
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
        className={`${select} sm:basis-52`}
        value={search.scope ?? 'accessible'}
        onChange={({ target }) => onChange({ scope: target.value as Scope, page: undefined })}
      >
        {visibleScopes.map((scope) => (
          <option key={scope} value={scope}>
            {t(`scope.${scope}`)}
          </option>
        ))}
      </SelectField>
      <Filter
        label={t('state.label')}
        any={t('state.any')}
        value={search.state}
        choices={states.map((state) => [state, t(`strings:state.${state}`)])}
        onChange={(state) => onChange({ state: states.find((name) => name === state), page: undefined })}
      />
      {(nodeChoices.length > 1 || search.node) && (
        <Filter
          label={t('node.label')}
          any={t('node.any')}
          value={search.node}
          choices={nodeChoices.map((node) => [node, node])}
          onChange={(node) => onChange({ node: node || undefined, page: undefined })}
        />
      )}
      <SelectField
        label={t('sort.label')}
        hideLabel
        className={`${select} sm:basis-44`}
        value={search.sort ?? 'listed'}
        onChange={({ target }) => onChange({ sort: target.value as Sort, page: undefined })}
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

function Filter({
  label,
  any,
  value,
  choices,
  onChange,
}: {
  label: string
  any: string
  value: string | undefined
  choices: readonly (readonly [value: string, text: string])[]
  onChange: (value: string) => void
}) {
  return (
    <SelectField
      label={label}
      hideLabel
      className={`${select} sm:basis-36`}
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">{any}</option>
      {choices.map(([choice, text]) => (
        <option key={choice} value={choice}>
          {text}
        </option>
      ))}
    </SelectField>
  )
}
