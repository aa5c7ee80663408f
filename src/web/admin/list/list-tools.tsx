import { Columns3, ListFilter as FilterIcon } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { SelectField, TextField } from '../../components/field.tsx'
import { Menu, MenuCheck } from '../../components/menu.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { type ChoiceSource, Picker } from '../form/picker.tsx'
import type { ListProps } from './admin-list.tsx'
import type { ListSearch } from './list-search.ts'
import { SavedViews } from './saved-views.tsx'

/** A filter of the API: one of few values, one of the resources that a search finds, an IP address, a day or a text. */
export type ListFilter = { name: string; label: string } & (
  | { choices: readonly (readonly [value: string, text: string])[] }
  | { source: ChoiceSource }
  | { isAddress: true }
  | { isDate: true }
  | { isText: true }
)

type ToolsProps<Row> = Pick<ListProps<Row>, 'searchBy' | 'searchLabel' | 'filters' | 'columns' | 'views'> & {
  search: ListSearch
  onChange: (change: Partial<ListSearch>) => void
}

/** The search, filters and columns of a list. On phones the filters are behind a button. */
export function ListTools<Row>({ search, onChange, filters = [], ...props }: ToolsProps<Row>) {
  const { t } = useTranslation('admin')
  const [isOpen, setOpen] = useState(false)
  const count = Object.keys(search.filters).length
  const setFilter = (name: string, value: string) => {
    const { [name]: _before, ...others } = search.filters
    onChange({ filters: value === '' ? others : { ...others, [name]: value } })
  }
  const hasColumns = props.columns.some(({ isOptional }) => isOptional)
  if (!props.searchBy && filters.length === 0 && !hasColumns) return null
  const isMany = filters.length > 2
  const fields = filters.length > 0 && (
    <div
      className={classNames(
        'w-full flex-wrap gap-2',
        isMany
          ? 'md:grid md:grid-cols-[repeat(auto-fill,minmax(13rem,1fr))]'
          : 'md:flex md:w-auto md:shrink-0 md:flex-nowrap',
        isOpen ? 'flex' : 'hidden',
      )}
    >
      {filters.map((filter) => (
        <Filter
          key={filter.name}
          filter={filter}
          value={search.filters[filter.name] ?? ''}
          onChange={(value) => setFilter(filter.name, value)}
        />
      ))}
    </div>
  )
  return (
    <search className="flex flex-wrap items-start gap-2 pb-4">
      {props.searchBy && (
        <SearchBox
          label={props.searchLabel ?? t('strings:action.search')}
          text={search.text}
          onSearch={(text) => onChange({ text })}
          className={classNames('grow md:basis-48', filters.length > 0 ? 'basis-full' : 'basis-48')}
        />
      )}
      {filters.length > 0 && (
        <Button
          icon={FilterIcon}
          aria-expanded={isOpen}
          className="md:hidden"
          onClick={() => setOpen(!isOpen)}
        >
          {t('list.filters')}
          {count > 0 && ` (${count})`}
        </Button>
      )}
      {!isMany && fields}
      {count > 0 && (
        <Button variant="quiet" onClick={() => onChange({ filters: {} })}>
          {t('list.clear')}
        </Button>
      )}
      {props.views && <SavedViews list={props.views} search={search} onChange={onChange} />}
      {hasColumns && <ColumnsMenu columns={props.columns} search={search} onChange={onChange} />}
      {isMany && fields}
    </search>
  )
}

function Filter({
  filter,
  value,
  onChange,
}: {
  filter: ListFilter
  value: string
  onChange: (value: string) => void
}) {
  const { t } = useTranslation('admin')
  const { label } = filter
  if ('source' in filter)
    return (
      <Picker
        label={label}
        hideLabel
        placeholder={label}
        className={filterStyle}
        source={filter.source}
        value={value}
        onChange={onChange}
      />
    )
  if ('isText' in filter) return <TextFilter key={value} label={label} value={value} onChange={onChange} />
  if ('isAddress' in filter)
    return <TextFilter key={value} label={label} value={value} pattern={addressPattern} onChange={onChange} />
  if ('isDate' in filter)
    return (
      <TextField
        label={label}
        hideLabel
        title={label}
        type="date"
        className={filterStyle}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )
  return (
    <SelectField
      label={label}
      hideLabel
      className={filterStyle}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">{t('list.any', { name: label })}</option>
      {filter.choices.map(([choice, text]) => (
        <option key={choice} value={choice}>
          {text}
        </option>
      ))}
    </SelectField>
  )
}

const filterStyle = 'grow basis-36 md:grow-0 md:basis-44'

/** IPv4 and IPv6 addresses, roughly: the panel refuses the rest. */
const addressPattern = /^(\d{1,3}(\.\d{1,3}){3}|(?=.*:)[\da-f:.]{2,45})$/i

/** Takes effect with Enter and when it is left: a part of an address would be refused. */
function TextFilter({
  label,
  value,
  pattern = /^/,
  onChange,
}: {
  label: string
  value: string
  /** What the panel takes. */
  pattern?: RegExp
  onChange: (value: string) => void
}) {
  const { t } = useTranslation('feed')
  const [draft, setDraft] = useState(value)
  const [isWrong, setWrong] = useState(false)
  const apply = () => {
    const text = draft.trim()
    const isTaken = text === '' || pattern.test(text)
    setWrong(!isTaken)
    if (text !== value && isTaken) onChange(text)
  }
  return (
    <TextField
      label={label}
      hideLabel
      placeholder={label}
      className={filterStyle}
      error={isWrong ? t('filters.ip_invalid') : undefined}
      value={draft}
      onChange={({ target }) => setDraft(target.value)}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
      autoComplete="off"
      spellCheck={false}
      enterKeyHint="search"
    />
  )
}

function ColumnsMenu<Row>({
  columns,
  search,
  onChange,
}: Pick<ToolsProps<Row>, 'columns' | 'search' | 'onChange'>) {
  const { t } = useTranslation('admin')
  const [, ...others] = columns
  const shown = search.columns ?? others.filter(({ isOptional }) => !isOptional).map(({ name }) => name)
  const toggle = (name: string, isShown: boolean) =>
    onChange({
      columns: others
        .map((column) => column.name)
        .filter((each) => (each === name ? isShown : shown.includes(each))),
    })
  return (
    <Menu trigger={<IconButton icon={Columns3} label={t('list.columns')} variant="plain" />}>
      {others.map(({ name, label }) => (
        <MenuCheck key={name} checked={shown.includes(name)} onChange={(isShown) => toggle(name, isShown)}>
          {label}
        </MenuCheck>
      ))}
    </Menu>
  )
}
