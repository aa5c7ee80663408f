import { lazy, Suspense, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Skeleton } from '../../components/states.tsx'
import type { Saving } from './use-save.ts'

const Comparison = lazy(async () => ({ default: (await import('../difference/comparison.tsx')).Comparison }))

/** Says why a file was not saved, shows how it differs by now, and lets the user overwrite it. */
export function SaveObstacle({ saving, onReload }: { saving: Saving; onReload: (() => void) | undefined }) {
  const { t } = useTranslation('files')
  const [isComparing, setComparing] = useState(false)
  const { obstacle, unsaved } = saving
  if (!obstacle) return null
  const canCompare = obstacle !== 'gone' && unsaved !== null
  return (
    <Dialog
      open
      onOpenChange={saving.dismiss}
      title={t(`obstacle.${obstacle}_title`)}
      text={t(`obstacle.${obstacle}`)}
      width={isComparing ? 'large' : 'small'}
      actions={
        <>
          <Button onClick={saving.dismiss}>{t('strings:action.cancel')}</Button>
          {canCompare && !isComparing && (
            <Button onClick={() => setComparing(true)}>{t('difference.compare')}</Button>
          )}
          {obstacle === 'changed' && onReload && <Button onClick={onReload}>{t('obstacle.reload')}</Button>}
          <Button variant="danger" busy={saving.isPending} onClick={saving.overwrite}>
            {t(obstacle === 'gone' ? 'obstacle.write' : 'obstacle.overwrite')}
          </Button>
        </>
      }
    >
      {canCompare && isComparing && (
        <Suspense fallback={<Skeleton rows={1} className="h-64" />}>
          <Comparison path={unsaved.path} mine={unsaved.text} mineTitle={t('difference.yours')} />
        </Suspense>
      )}
    </Dialog>
  )
}
