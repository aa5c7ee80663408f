import { useQuery } from '@tanstack/react-query'
import { LayoutGrid, ListChecks, Rows3, SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { filterNamesQuery, type ServerSummary } from '../api/server-list.ts'
import type { Scope } from '../api/servers.ts'
import { site } from '../app/site.ts'
import { IconButton } from '../components/button.tsx'
import { classNames } from '../components/class-names.ts'
import { SelectField } from '../components/field.tsx'
import { SearchBox } from '../components/search-box.tsx'
import {
  type HomeChange,
  type HomeSearch,
  isFiltered,
  scopes,
  type Sort,
  sorts,
  states,
} from './home-search.ts'
import type { Selection } from './use-selection.ts'

export const views = ['table', 'cards'] as const
export type View = (typeof views)[number]

const select = 'min-w-0 grow basis-36 sm:grow-0'

type ToolsProps = {
  search: HomeSearch
  /** The first servers of the list, and whether there are more. */
  servers: readonly ServerSummary[]
  hasMore: boolean
  onChange: (change: HomeChange) => void
  view: View
  onViewChange: (view: View) => void
  selection: Selection
}

/** The search, scope, filters, sort order and view of the server list; on phones the filters show on demand. */
export function HomeTools({ search, servers, hasMore, ...props }: ToolsProps) {
  const { onChange, view, onViewChange, selection } = props
  const { t } = useTranslation('home')
  const [isOpen, setOpen] = useState(false)
  return (
    <search className="flex flex-wrap items-end gap-2 pb-3">
      <SearchBox
        label={t('search')}
        text={search.q ?? ''}
        onSearch={(text) => onChange({ q: text || undefined })}
        className="grow basis-40"
      />
      <IconButton
        icon={SlidersHorizontal}
        label={t('filters')}
        aria-expanded={isOpen}
        variant={isOpen || hasChoices(search) ? 'plain' : 'quiet'}
        className="sm:hidden"
        onClick={() => setOpen(!isOpen)}
      />
      <div className={classNames('contents', !isOpen && 'max-sm:hidden')}>
        <ScopeChoice search={search} onChange={onChange} />
        <Filters search={search} servers={servers} hasMore={hasMore} onChange={onChange} />
        <SelectField
          label={t('sort.label')}
          hideLabel
          className={`${select} sm:basis-40`}
          value={search.sort ?? 'running'}
          onChange={({ target }) => onChange({ sort: target.value as Sort })}
        >
          {sorts.map((sort) => (
            <option key={sort} value={sort}>
              {t(`sort.${sort}`)}
            </option>
          ))}
        </SelectField>
      </div>
      {/* They stay together where the filters leave them no room. */}
      <div className="ms-auto flex gap-1">
        <IconButton
          icon={ListChecks}
          label={t('select.several')}
          aria-pressed={selection.isActive}
          variant={selection.isActive ? 'plain' : 'quiet'}
          onClick={() => selection.setActive(!selection.isActive)}
        />
        <ViewChoice view={view} onViewChange={onViewChange} />
      </div>
    </search>
  )
}

/** Whether something beside the search text is chosen. */
const hasChoices = ({ q: _q, place: _place, ...choices }: HomeSearch) => Object.keys(choices).length > 0

function ViewChoice({ view, onViewChange }: Pick<ToolsProps, 'view' | 'onViewChange'>) {
  const { t } = useTranslation('home')
  return (
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
  )
}

/** Puts node-2 before node-10. */
const byNumber = new Intl.Collator(site.locale, { numeric: true })

type PartProps = Pick<ToolsProps, 'search' | 'onChange'>

function ScopeChoice({ search, onChange }: PartProps) {
  const { t } = useTranslation('home')
  const visibleScopes = scopes.filter((scope) => site.user?.root_admin || !scope.startsWith('admin'))
  return (
    <SelectField
      label={t('scope.label')}
      hideLabel
      className={`${select} sm:basis-72`}
      value={search.scope ?? 'accessible'}
      onChange={({ target }) => onChange({ scope: target.value as Scope, owner: undefined })}
    >
      {visibleScopes.map((scope) => (
        <option key={scope} value={scope}>
          {t(`scope.${scope}`)}
        </option>
      ))}
    </SelectField>
  )
}

function Filters({
  search,
  servers,
  hasMore,
  onChange,
}: PartProps & Pick<ToolsProps, 'servers' | 'hasMore'>) {
  const { t } = useTranslation('home')
  // The page that is loaded has the names of all servers unless there are more, or it is filtered.
  const { data: names } = useQuery({
    ...filterNamesQuery(search.scope ?? 'accessible'),
    enabled: hasMore || isFiltered(search) || search.place !== undefined,
  })
  const namesOf = (field: 'node' | 'egg') => {
    const all = names?.[`${field}s`] ?? servers.map((server) => server[field])
    return [...new Set([search[field] ?? '', ...all])].filter(Boolean).toSorted(byNumber.compare)
  }
  return (
    <>
      <Filter
        label={t('state.label')}
        any={t('state.any')}
        value={search.state}
        choices={states.map((state) => [state, t(`strings:state.${state}`)])}
        onChange={(state) => onChange({ state: states.find((name) => name === state) })}
      />
      {(['node', 'egg'] as const).map((field) => {
        const names = namesOf(field)
        return (
          (names.length > 1 || search[field]) && (
            <Filter
              key={field}
              label={t(`${field}.label`)}
              any={t(`${field}.any`)}
              value={search[field]}
              choices={names.map((name) => [name, name])}
              onChange={(name) => onChange({ [field]: name || undefined })}
            />
          )
        )
      })}
      {search.scope?.startsWith('admin') && (
        <SearchBox
          label={t('owner.label')}
          text={search.owner ?? ''}
          onSearch={(owner) => onChange({ owner: owner || undefined })}
          className="grow basis-40 sm:grow-0"
        />
      )}
    </>
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
