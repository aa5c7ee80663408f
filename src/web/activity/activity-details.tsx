import type { ReactNode } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { type ActivityEntry, actorOf } from '../api/activity.ts'
import { formatDateTime } from '../app/formats.ts'
import { Dialog } from '../components/dialog.tsx'
import { PrivateText } from '../components/private-text.tsx'
import { actorFallback } from './actor-name.ts'
import { EventText } from './event-text.tsx'

/** Shows all details of an entry in a dialog. */
export function ActivityDetails({ entry, onClose }: { entry: ActivityEntry | null; onClose: () => void }) {
  const { t } = useTranslation('feed')
  return (
    <Dialog
      open={entry !== null}
      onOpenChange={onClose}
      title={t('entry.title')}
      text={entry && <EventText entry={entry} />}
    >
      {entry && <Details entry={entry} />}
    </Dialog>
  )
}

function Details({ entry }: { entry: ActivityEntry }) {
  const { t } = useTranslation('feed')
  const actor = actorOf(entry)
  const properties = Object.entries(entry.properties)
  return (
    <div className="flex flex-col gap-4 text-sm">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-2">
        <Detail name={t('entry.event')}>
          <code className="wrap-anywhere">{entry.event}</code>
        </Detail>
        <Detail name={t('entry.when')}>
          <time dateTime={entry.timestamp}>{formatDateTime(entry.timestamp)}</time>
        </Detail>
        <Detail name={t('entry.who')}>
          {actor?.username ?? t(actorFallback(entry))}
          {entry.is_api && ` · ${t('by_api')}`}
        </Detail>
        <Detail name={t('entry.ip')}>
          {entry.ip ? <PrivateText text={entry.ip} className="font-mono" /> : t('entry.ip_hidden')}
        </Detail>
      </dl>
      <section aria-label={t('entry.properties')}>
        <h3 className="mb-2 font-medium">{t('entry.properties')}</h3>
        {properties.length === 0 ? (
          <p className="text-muted">
            {t(entry.properties_withheld ? 'entry.properties_withheld' : 'entry.no_properties')}
          </p>
        ) : (
          <dl className="flex flex-col gap-2 rounded-control bg-raised p-3">
            {properties.map(([name, value]) => (
              <div key={name}>
                <dt className="text-xs text-muted">{name}</dt>
                <dd className="font-mono text-xs wrap-anywhere whitespace-pre-wrap">
                  <PrivateText text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </section>
    </div>
  )
}

const Detail = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-muted">{name}</dt>
    <dd className="min-w-0 wrap-anywhere">{children}</dd>
  </>
)
