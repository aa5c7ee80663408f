import { ListFilter } from 'lucide-react'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { type ActivitySearch, periods, sources } from '../api/activity.ts'
import { Button } from '../components/button.tsx'
import { classNames } from '../components/class-names.ts'
import { SelectField, TextField } from '../components/field.tsx'
import { eventLabel, eventTexts } from './event-text.tsx'

type Filters = Omit<ActivitySearch, 'page'>
type FiltersProps = {
  search: ActivitySearch
  /** Names of the events that occur in the feed. */
  events: readonly string[]
  /** Whether the panel refused the IP address. */
  isAddressInvalid: boolean
  onSearchChange: (search: ActivitySearch) => void
  /** Buttons beside the filters. */
  actions: ReactNode
}

/** Shows the filters of a feed. A change takes effect at once and leads to the first page. */
export function ActivityFilters({ search, events, isAddressInvalid, onSearchChange, actions }: FiltersProps) {
  const { t } = useTranslation('feed')
  const [isOpen, setOpen] = useState(false)
  const { page: _page, ...filters } = search
  const count = Object.keys(filters).length
  const change = (name: keyof Filters, value: string) =>
    onSearchChange({ ...filters, [name]: value === '' ? undefined : value })
  return (
    <div className="flex flex-wrap items-start gap-x-2 gap-y-3 sm:gap-x-3">
      <Button icon={ListFilter} aria-expanded={isOpen} className="sm:hidden" onClick={() => setOpen(!isOpen)}>
        {t(isOpen ? 'filters.hide' : 'filters.show')}
      </Button>
      <div
        role="group"
        aria-label={t('filters.label')}
        className={classNames(
          'order-last w-full grid-cols-2 items-start gap-3 sm:order-none sm:grid sm:grid-cols-3 xl:w-auto xl:flex-1 xl:grid-cols-5',
          isOpen ? 'grid' : 'hidden',
        )}
      >
        <EventField search={search} events={events} onChange={(value) => change('event', value)} />
        <SelectField
          label={t('filters.period')}
          value={search.period ?? ''}
          onChange={(event) => change('period', event.target.value)}
        >
          <option value="">{t('filters.any')}</option>
          {periods.map((period) => (
            <option key={period} value={period}>
              {t(`period.${period}`)}
            </option>
          ))}
        </SelectField>
        <TextField
          label={t('filters.date')}
          type="date"
          value={search.date ?? ''}
          onChange={(event) => change('date', event.target.value)}
        />
        <SelectField
          label={t('filters.source')}
          value={search.source ?? ''}
          onChange={(event) => change('source', event.target.value)}
        >
          <option value="">{t('filters.any')}</option>
          {sources.map((source) => (
            <option key={source} value={source}>
              {t(`source.${source}`)}
            </option>
          ))}
        </SelectField>
        <AddressField
          key={search.ip ?? ''}
          value={search.ip ?? ''}
          error={isAddressInvalid ? t('filters.ip_invalid') : undefined}
          onChange={(value) => change('ip', value)}
        />
      </div>
      <div className="flex flex-wrap gap-2 xl:mt-6.5">
        {actions}
        {count > 0 && (
          <Button variant="quiet" onClick={() => onSearchChange({})}>
            {t('filters.clear')}
          </Button>
        )}
      </div>
    </div>
  )
}

function EventField({
  search,
  events,
  onChange,
}: Pick<FiltersProps, 'search' | 'events'> & { onChange: (event: string) => void }) {
  const { t } = useTranslation('feed', ...eventTexts)
  const options = search.event && !events.includes(search.event) ? [...events, search.event] : events
  return (
    <SelectField
      label={t('entry.event')}
      className="col-span-2 sm:col-span-1"
      value={search.event ?? ''}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{t('filters.any')}</option>
      {options.map((event) => (
        <option key={event} value={event}>
          {eventLabel(event)}
        </option>
      ))}
    </SelectField>
  )
}

/** Takes effect when the form is submitted, since a partial address would be refused. */
function AddressField({
  value,
  error,
  onChange,
}: {
  value: string
  error: string | undefined
  onChange: (address: string) => void
}) {
  const { t } = useTranslation('feed')
  const [draft, setDraft] = useState(value)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onChange(draft.trim())
  }
  return (
    <form onSubmit={submit}>
      <TextField
        label={t('filters.ip')}
        hint={draft.trim() === value ? undefined : t('filters.ip_text')}
        error={error}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        autoComplete="off"
        spellCheck={false}
        enterKeyHint="search"
      />
    </form>
  )
}
