import { lazy, Suspense, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Skeleton } from '../../components/states.tsx'
import { kindOf, previewOf } from './entries.ts'
import { useFilePermissions } from './files-context.tsx'
import type { Replacement } from './find-replacements.ts'
import type { Collision } from './use-uploads.ts'

const Comparison = lazy(async () => ({ default: (await import('../difference/comparison.tsx')).Comparison }))

const maxShown = 8
/** Larger files are no texts that a reader would compare. */
const maxComparedBytes = 1024 * 1024

type CollisionProps = { collision: Collision; onDecide: (decision: 'replace' | 'skip' | 'cancel') => void }

/** Lists the files that an upload would replace, which of them are newer on the server, and what differs. */
export function CollisionDialog({ collision, onDecide }: CollisionProps) {
  const { t } = useTranslation('files')
  const { chosen, replacements } = collision
  const [compared, setCompared] = useState<Replacement | null>(null)
  const shown = replacements.slice(0, maxShown)
  return (
    <Dialog
      open
      onOpenChange={() => onDecide('cancel')}
      title={t('upload.replace_title')}
      text={t('upload.replace_text', { count: replacements.length })}
      width={compared ? 'large' : 'small'}
      actions={
        <>
          <Button onClick={() => onDecide('cancel')}>{t('strings:action.cancel')}</Button>
          {replacements.length < chosen.length && (
            <Button onClick={() => onDecide('skip')}>{t('upload.skip')}</Button>
          )}
          <Button variant="danger" onClick={() => onDecide('replace')}>
            {t('upload.replace')}
          </Button>
        </>
      }
    >
      {compared ? (
        <Compared replacement={compared} onBack={() => setCompared(null)} />
      ) : (
        <ul className="flex flex-col divide-y divide-line rounded-control bg-raised px-3 text-sm">
          {shown.map((replacement) => (
            <ReplacementRow
              key={replacement.path}
              replacement={replacement}
              onCompare={() => setCompared(replacement)}
            />
          ))}
          {replacements.length > shown.length && (
            <li className="py-2 text-muted">{t('more', { count: replacements.length - shown.length })}</li>
          )}
        </ul>
      )}
    </Dialog>
  )
}

function ReplacementRow({ replacement, onCompare }: { replacement: Replacement; onCompare: () => void }) {
  const { t } = useTranslation('files')
  const rights = useFilePermissions()
  const { path, file, entry } = replacement
  const isNewer = Date.parse(entry.modified_at) > file.lastModified
  const isText = kindOf(entry) === 'file' && previewOf(entry.name) === null
  const canCompare = rights.read && isText && Math.max(entry.size, file.size) <= maxComparedBytes
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
      <div className="min-w-0 flex-1 basis-40">
        <p className="wrap-anywhere">{path}</p>
        <p className="flex flex-wrap items-center gap-x-2 text-xs text-muted">
          <span>
            {t('modified')} <RelativeTime at={entry.modified_at} />
          </span>
          {isNewer && <Badge tone="warn">{t('upload.newer')}</Badge>}
        </p>
      </div>
      {canCompare && (
        <Button aria-label={t('difference.compare_file', { name: entry.name })} onClick={onCompare}>
          {t('difference.compare')}
        </Button>
      )}
    </li>
  )
}

function Compared({ replacement, onBack }: { replacement: Replacement; onBack: () => void }) {
  const { t } = useTranslation('files')
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 text-sm font-medium wrap-anywhere">{replacement.path}</p>
        <Button onClick={onBack}>{t('upload.back')}</Button>
      </div>
      <Suspense fallback={<Skeleton rows={1} className="h-64" />}>
        <Comparison path={replacement.path} mine={replacement.file} mineTitle={t('difference.on_computer')} />
      </Suspense>
    </div>
  )
}
