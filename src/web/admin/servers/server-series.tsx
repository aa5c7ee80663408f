import { RotateCw } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { refetchAdmin } from '../../api/admin.ts'
import { asRequestError, RequestError } from '../../api/error.ts'
import { Button, buttonStyle } from '../../components/button.tsx'
import { LeaveGuard } from '../../components/leave-guard.tsx'
import { AdminLink } from '../admin-link.tsx'
import { type BulkItem, BulkItems, BulkProgress, cancelledCode } from '../bulk/item-list.tsx'
import type { FormValues } from '../form/resource-form.tsx'
import type { Item, Server } from '../resources.ts'

/** The most servers that one form makes. */
const maxServers = 50

/**
 * Returns the values of each server that a form makes: several get numbered names, which sort as they count. Throws an
 * error of the field for a number that is out of range.
 */
export function ordersOf(values: FormValues, message: string): FormValues[] {
  if (values.placement !== 'deploy') return [values]
  const text = String(values.count).trim()
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > maxServers) {
    const meta = { source_field: 'count', rule: 'between' }
    throw new RequestError(422, [{ code: 'ValidationException', detail: message, meta }], null, null)
  }
  if (count === 1) return [values]
  return Array.from({ length: count }, (_, at) => {
    const number = String(at + 1).padStart(text.length, '0')
    const append = (value: unknown, mark: string) => (value ? `${String(value).trim()}${mark}${number}` : '')
    return { ...values, name: append(values.name, ' '), external_id: append(values.external_id, '-') }
  })
}

type SeriesItem = BulkItem & { values: FormValues }

/** Servers that are made one after another, after the first. */
export type Series = ReturnType<typeof useServerSeries>

/** Makes several servers by the route that makes one. What has not been begun when the page is left is not made. */
export function useServerSeries(create: (values: FormValues) => Promise<Item<Server>>) {
  const { t } = useTranslation('admin')
  const [items, setItems] = useState<SeriesItem[]>([])
  const isStopped = useRef(false)
  useEffect(() => {
    isStopped.current = false
    return () => {
      isStopped.current = true
    }
  }, [])

  const change = (changed: SeriesItem, more: Partial<SeriesItem>) =>
    setItems((now) => now.map((item) => (item.values === changed.values ? { ...item, ...more } : item)))
  const make = async (item: SeriesItem) => {
    change(item, { state: 'running', error: null })
    try {
      const { attributes } = await create(item.values)
      change(item, { state: 'done', server_id: attributes.id })
    } catch (error) {
      const [entry] = asRequestError(error)?.entries ?? []
      change(item, { state: 'failed', error: entry ?? { code: '', detail: t('strings:failure.other') } })
    }
  }
  const run = async (due: readonly SeriesItem[]) => {
    isStopped.current = false
    for (const item of due) {
      if (isStopped.current) change(item, { state: 'failed', error: { code: cancelledCode, detail: '' } })
      else await make(item)
    }
    await refetchAdmin()
  }
  return {
    items,
    /** Goes on after the first one, which is there. */
    begin: (orders: readonly FormValues[], { attributes: first }: Item<Server>) => {
      const all = orders.map((values, at): SeriesItem => ({
        values,
        server_id: at === 0 ? first.id : null,
        name: String(values.name),
        state: at === 0 ? 'done' : 'pending',
        error: null,
      }))
      setItems(all)
      void run(all.slice(1))
    },
    retry: () => {
      const failed = items.filter(({ state }) => state === 'failed')
      for (const item of failed) change(item, { state: 'pending', error: null })
      void run(failed)
    },
    stop: () => {
      isStopped.current = true
    },
  }
}

/** How far the servers of one form are, one by one. */
export function ServerSeries({ series: { items, stop, retry } }: { series: Series }) {
  const { t } = useTranslation('admin')
  const isRunning = items.some(({ state }) => state === 'pending' || state === 'running')
  const failed = items.filter(({ state }) => state === 'failed').length
  const name = String(items[0]?.values.name).replace(/ \d+$/, '')
  return (
    <div className="flex flex-col gap-4">
      <LeaveGuard
        isDirty={isRunning}
        title={t('bulk.cancel')}
        text={t('bulk.cancel_text')}
        action={t('form.leave')}
      />
      <BulkProgress label={t('servers.create')} items={items} />
      <BulkItems items={items} />
      <div className="flex flex-wrap justify-end gap-2">
        {isRunning ? (
          <Button variant="danger" onClick={stop}>
            {t('bulk.cancel')}
          </Button>
        ) : (
          <>
            {failed > 0 && (
              <Button icon={RotateCw} onClick={retry}>
                {t('bulk.retry', { count: failed })}
              </Button>
            )}
            <AdminLink to="servers" search={{ q: name }} className={buttonStyle('primary')}>
              {t('servers.show_created')}
            </AdminLink>
          </>
        )}
      </div>
    </div>
  )
}
