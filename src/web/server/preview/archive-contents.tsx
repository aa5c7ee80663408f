import { File, Folder, Search } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatBytes } from '../../app/formats.ts'
import { controlStyle } from '../../components/field.tsx'
import type { ArchiveListing } from './zip-entries.ts'

/** Only this many rows are shown; the filter finds the others. */
const maxRows = 500

/** Lists what an archive contains. */
export function ArchiveContents({ listing }: { listing: ArchiveListing }) {
  const { t } = useTranslation('files')
  const [filter, setFilter] = useState('')
  const text = filter.trim().toLowerCase()
  const found = listing.entries.filter(({ name }) => name.toLowerCase().includes(text))
  const size = listing.entries.reduce((sum, entry) => sum + entry.size, 0)
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <label className="relative w-full sm:w-72">
          <span className="sr-only">{t('filter')}</span>
          <Search aria-hidden className="absolute top-2.5 start-3 size-4 text-muted" />
          <input
            type="search"
            value={filter}
            placeholder={t('filter')}
            onChange={(event) => setFilter(event.target.value)}
            className={`${controlStyle} ps-9`}
          />
        </label>
        <p aria-live="polite" className="text-sm text-muted tabular-nums">
          {text === ''
            ? `${t('entries', { count: listing.entries.length })} · ${t('preview.unpacked', { size: formatBytes(size) })}`
            : t('entries_of', { count: listing.entries.length, shown: found.length })}
        </p>
      </div>
      {listing.isTruncated && <p className="text-sm text-warn">{t('preview.truncated')}</p>}
      {found.length === 0 && <p className="text-sm text-muted">{t('filter_none')}</p>}
      <ul
        aria-label={t('preview.contents')}
        className="divide-y divide-line rounded-card border border-line bg-surface empty:hidden"
      >
        {found.slice(0, maxRows).map((entry, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- an archive may have a name twice
          <li key={at} className="flex min-h-9 items-center gap-2.5 px-4 py-1 text-sm">
            {entry.isFolder ? (
              <Folder aria-hidden className="size-4 shrink-0 text-brand-text" />
            ) : (
              <File aria-hidden className="size-4 shrink-0 text-muted" />
            )}
            <span className="min-w-0 flex-1 wrap-anywhere">{entry.name}</span>
            {!entry.isFolder && (
              <span className="shrink-0 text-muted tabular-nums">{formatBytes(entry.size)}</span>
            )}
          </li>
        ))}
        {found.length > maxRows && (
          <li className="px-4 py-2 text-sm text-muted">{t('more', { count: found.length - maxRows })}</li>
        )}
      </ul>
    </div>
  )
}
