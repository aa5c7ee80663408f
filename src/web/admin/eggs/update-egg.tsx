import { useMutation, useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError } from '../../components/field.tsx'
import { Skeleton } from '../../components/states.tsx'
import { toast } from '../../components/toast.tsx'
import { refetchAdmin } from '../../api/admin.ts'
import type { Egg } from '../resources.ts'
import { EggDifferenceView } from './egg-difference.tsx'
import { type Comparison, compareDocument, fetchDocument, importDocument } from './egg-documents.ts'

/** Fetches an egg from its own URL, shows what has changed there, and applies it. */
export function UpdateEgg({ egg, url, onClose }: { egg: Egg; url: string; onClose: () => void }) {
  const { t } = useTranslation('admin')
  const comparison = useQuery({
    queryKey: ['egg-update', egg.id, egg.updated_at],
    queryFn: async () => compareDocument(egg.nest, await fetchDocument(url), egg.id),
    retry: false,
    gcTime: 0,
  })
  const updating = useMutation({
    mutationFn: (compared: Comparison) => importDocument(egg.nest, compared),
    onSuccess: async () => {
      toast(t('eggs.imported_updated', { name: egg.name }))
      onClose()
      await refetchAdmin()
    },
  })
  const { data, error, isPending } = comparison
  const difference = data?.difference
  const isChanged = difference?.state === 'updated'
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('eggs.update', { name: egg.name })}
      text={url}
      width="large"
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.close')}</Button>
          {data && isChanged && (
            <Button variant="primary" busy={updating.isPending} onClick={() => updating.mutate(data)}>
              {t('eggs.apply')}
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {isPending && <Skeleton />}
        <FormError error={asRequestError(updating.error ?? error)} />
        {difference && (
          <p role="status" className="text-sm">
            {t(isChanged ? 'eggs.update_found' : 'eggs.up_to_date')}
          </p>
        )}
        {difference && isChanged && <EggDifferenceView difference={difference} />}
      </div>
    </Dialog>
  )
}
