import { useMutation, useQuery } from '@tanstack/react-query'
import { Download, History, Info } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import {
  type ActivityEntry,
  activityQuery,
  type ActivitySearch,
  actorOf,
  fetchActivity,
} from '../api/activity.ts'
import { asRequestError } from '../api/error.ts'
import { Avatar } from '../components/avatar.tsx'
import { Badge } from '../components/badge.tsx'
import { Button, IconButton } from '../components/button.tsx'
import { RowList } from '../components/card.tsx'
import { Instant } from '../components/instant.tsx'
import { Pager } from '../components/pager.tsx'
import { PrivateText } from '../components/private-text.tsx'
import { saveFile } from '../components/save-file.ts'
import { EmptyState, Loaded } from '../components/states.tsx'
import { toast, toastError } from '../components/toast.tsx'
import { nobodyOf } from './actor-name.ts'
import { activityCsv } from './activity-csv.ts'
import { ActivityDetails } from './activity-details.tsx'
import { ActivityFilters } from './activity-filters.tsx'
import { eventSentence, EventText, eventTexts } from './event-text.tsx'

/** Entries of a file: fifty requests. */
const mostExported = 5000

type ActivityFeedProps = {
  /** Address in the Client API, as `/api/client/account/activity`. */
  feed: string
  /** What is looked at, from the address of the page: `validateSearch: readActivitySearch`. */
  search: ActivitySearch
  /** Another search was chosen: it belongs into the address of the page. */
  onSearch: (search: ActivitySearch) => void
  /** Name of the file for spreadsheets, without its ending. */
  fileName: string
}

/** What happened, newest first, with filters, details, and a file of it. Its texts: `feed` and `activity`. */
export function ActivityFeed({ feed, search, onSearch, fileName }: ActivityFeedProps) {
  const { t } = useTranslation(['feed', ...eventTexts])
  const entries = useQuery(activityQuery(feed, search))
  const [opened, setOpened] = useState<ActivityEntry | null>(null)
  const isAddressRefused = asRequestError(entries.error)?.fieldError('filter.ip') !== undefined
  const isFiltered = Object.keys(search).some((name) => name !== 'page')
  return (
    <div className="flex flex-col gap-4">
      <ActivityFilters
        search={search}
        events={entries.data?.meta.available_events ?? []}
        isAddressRefused={isAddressRefused}
        onSearch={onSearch}
        actions={<ExportButton feed={feed} search={search} fileName={fileName} />}
      />
      {isAddressRefused ? (
        <EmptyState icon={History} title={t('no_match')} />
      ) : (
        <Loaded query={{ ...entries, data: entries.error ? undefined : entries.data }}>
          {({ data, meta }) =>
            data.length === 0 ? (
              <EmptyState icon={History} title={t(isFiltered ? 'no_match' : 'empty')} />
            ) : (
              <>
                <RowList label={t('title')}>
                  {data.map(({ attributes }) => (
                    <Row key={attributes.id} entry={attributes} onOpen={() => setOpened(attributes)} />
                  ))}
                </RowList>
                <Pager pagination={meta.pagination} onPage={(page) => onSearch({ ...search, page })} />
              </>
            )
          }
        </Loaded>
      )}
      <ActivityDetails entry={opened} onClose={() => setOpened(null)} />
    </div>
  )
}

function Row({ entry, onOpen }: { entry: ActivityEntry; onOpen: () => void }) {
  const { t } = useTranslation('feed')
  const actor = actorOf(entry)
  const name = actor?.username ?? t(nobodyOf(entry))
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <Avatar image={actor?.image} name={name} />
      <div className="min-w-0 flex-1 text-sm">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-muted">
          <span className="font-medium wrap-anywhere text-ink">{name}</span>
          <Instant at={entry.timestamp} />
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
  const collecting = useMutation({
    mutationFn: () => fetchActivity(feed, search, mostExported),
    onSuccess: (entries) => {
      saveFile(`${fileName}.csv`, 'text/csv', activityCsv(entries))
      if (entries.length === mostExported) toast(t('export.limit', { count: mostExported }))
    },
    onError: (error) => toastError(error, t('export.failed')),
  })
  return (
    <Button icon={Download} busy={collecting.isPending} onClick={() => collecting.mutate()}>
      {t(collecting.isPending ? 'export.busy' : 'export.submit')}
    </Button>
  )
}
