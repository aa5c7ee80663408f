import { useMutation } from '@tanstack/react-query'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatNumber } from '../../app/formats.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { toastError } from '../../components/toast.tsx'
import type { Selection } from './selection.ts'

/** Says how many rows are chosen, and offers what can be done with them; nothing while none is. */
export function SelectionBar<Row>({
  selection,
  total,
  max,
  fetchAll,
  children,
}: {
  selection: Selection<Row>
  /** How many rows match. */
  total: number
  /** How many may be chosen. */
  max: number
  /** Fetches the first `max` rows that match. */
  fetchAll: () => Promise<Row[]>
  children: ReactNode
}) {
  const { t } = useTranslation('admin')
  const count = selection.rows.length
  const choosing = useMutation({
    mutationFn: fetchAll,
    onSuccess: (rows) => selection.set(rows, true),
    onError: (error) => toastError(error, t('strings:failure.other')),
  })
  if (count === 0) return null
  const matching = Math.min(total, max)
  return (
    <section
      aria-label={t('list.chosen_label')}
      className="sticky bottom-[calc(0.75rem+var(--bottom-bar))] z-10 mt-3 flex flex-wrap items-center gap-2 rounded-card border border-line-strong bg-surface p-2 ps-4 shadow-lg"
    >
      <p aria-live="polite" className="grow text-sm font-medium tabular-nums">
        {t('list.chosen', { number: formatNumber(count) })}
      </p>
      {count < matching && (
        <Button variant="quiet" busy={choosing.isPending} onClick={() => choosing.mutate()}>
          {t(total > max ? 'list.choose_first' : 'list.choose_all', { number: formatNumber(matching) })}
        </Button>
      )}
      {count > max ? (
        <span className="text-sm text-bad">{t('list.over_limit', { number: formatNumber(max) })}</span>
      ) : (
        children
      )}
      <IconButton icon={X} label={t('list.choose_none')} onClick={selection.clear} />
    </section>
  )
}
