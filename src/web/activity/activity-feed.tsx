import { useMutation, useQuery } from '@tanstack/react-query'
import { Download, History, Info, SearchX } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import {
  type ActivityEntry,
  activityQuery,
  type ActivitySearch,
  actorOf,
  type Feed,
  fetchActivity,
} from '../api/activity.ts'
import { asRequestError } from '../api/error.ts'
import { Avatar } from '../components/avatar.tsx'
import { Badge } from '../components/badge.tsx'
import { Button, IconButton } from '../components/button.tsx'
import { RowList } from '../components/card.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { Pager } from '../components/pager.tsx'
import { PrivateText } from '../components/private-text.tsx'
import { saveFile } from '../components/save-file.ts'
import { EmptyState, Loaded } from '../components/states.tsx'
import { toast, toastError } from '../components/toast.tsx'
import { actorFallback } from './actor-name.ts'
import { activityCsv } from './activity-csv.ts'
import { ActivityDetails } from './activity-details.tsx'
import { ActivityFilters } from './activity-filters.tsx'
import { eventSentence, EventText, eventTexts } from './event-text.tsx'

/** The most entries in one exported file: fifty requests. */
const maxExportedEntries = 5000

type ActivityFeedProps = {
  feed: Feed
  /** The filters in the address of the page, from `validateSearch: readActivitySearch`. */
  search: ActivitySearch
  /** Called with the new filters, which belong in the address of the page. */
  onSearchChange: (search: ActivitySearch) => void
  /** Name of the exported file, without its extension. */
  fileName: string
}

/** Lists activity, newest first, with filters, details and an export. Needs the texts `feed` and `activity`. */
export function ActivityFeed({ feed, search, onSearchChange, fileName }: ActivityFeedProps) {
  const { t } = useTranslation('feed', ...eventTexts)
  const entries = useQuery(activityQuery(feed, search))
  const [opened, setOpened] = useState<ActivityEntry | null>(null)
  const isAddressInvalid = asRequestError(entries.error)?.fieldError('filter.ip') !== undefined
  const isFiltered = Object.keys(search).some((name) => name !== 'page')
  return (
    <div className="flex flex-col gap-4">
      <ActivityFilters
        search={search}
        events={entries.data?.meta.available_events ?? []}
        isAddressInvalid={isAddressInvalid}
        onSearchChange={onSearchChange}
        actions={<ExportButton feed={feed} search={search} fileName={fileName} />}
      />
      {isAddressInvalid ? (
        <EmptyState icon={History} title={t('no_match')} text={t('filters.ip_invalid')} />
      ) : (
        <Loaded query={{ ...entries, data: entries.error ? undefined : entries.data }}>
          {({ data, meta }) =>
            data.length === 0 ? (
              <NoEntries isFiltered={isFiltered} onClear={() => onSearchChange({})} />
            ) : (
              <>
                <RowList label={t('title')}>
                  {data.map(({ attributes }) => (
                    <Row key={attributes.id} entry={attributes} onOpen={() => setOpened(attributes)} />
                  ))}
                </RowList>
                <Pager pagination={meta.pagination} onPage={(page) => onSearchChange({ ...search, page })} />
              </>
            )
          }
        </Loaded>
      )}
      <ActivityDetails entry={opened} onClose={() => setOpened(null)} />
    </div>
  )
}

function NoEntries({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const { t } = useTranslation('feed')
  if (!isFiltered) return <EmptyState icon={History} title={t('empty')} text={t('empty_text')} />
  return (
    <EmptyState icon={SearchX} title={t('no_match')} text={t('no_match_text')}>
      <Button onClick={onClear}>{t('filters.clear')}</Button>
    </EmptyState>
  )
}

function Row({ entry, onOpen }: { entry: ActivityEntry; onOpen: () => void }) {
  const { t } = useTranslation('feed')
  const actor = actorOf(entry)
  const name = actor?.username ?? t(actorFallback(entry))
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <Avatar image={actor?.image} name={name} />
      <div className="min-w-0 flex-1 text-sm">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-muted">
          <span className="font-medium wrap-anywhere text-ink">{name}</span>
          {entry.acted_for && <span className="wrap-anywhere">→ {entry.acted_for}</span>}
          <RelativeTime at={entry.timestamp} />
          {entry.ip && <PrivateText text={entry.ip} className="tabular-nums" />}
          {entry.is_api && <Badge>{t('by_api')}</Badge>}
          {entry.properties.using_sftp === true && <Badge>{t('by_sftp')}</Badge>}
        </p>
        <p className="mt-0.5">
          <EventText entry={entry} />
        </p>
      </div>
      <IconButton icon={Info} label={t('entry.open', { text: eventSentence(entry) })} onClick={onOpen} />
    </li>
  )
}

function ExportButton({ feed, search, fileName }: Pick<ActivityFeedProps, 'feed' | 'search' | 'fileName'>) {
  const { t } = useTranslation('feed')
  const exporting = useMutation({
    mutationFn: () => fetchActivity(feed, search, maxExportedEntries),
    onSuccess: (entries) => {
      saveFile(`${fileName}.csv`, 'text/csv', activityCsv(entries))
      if (entries.length === maxExportedEntries) toast(t('export.limit', { count: maxExportedEntries }))
    },
    onError: (error) => toastError(error, t('export.failed')),
  })
  return (
    <Button icon={Download} busy={exporting.isPending} onClick={() => exporting.mutate()}>
      {t(exporting.isPending ? 'export.busy' : 'export.submit')}
    </Button>
  )
}
