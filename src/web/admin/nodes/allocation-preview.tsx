import { useTranslation } from '../../app/use-translation.ts'
import { formatNumber } from '../../app/formats.ts'
import { classNames } from '../../components/class-names.ts'
import { wide } from '../form/fields.tsx'
import { useForm } from '../form/resource-form.tsx'
import { countAllocations, maxAllocations } from './allocation-count.ts'

/** Says how many addresses the fields of the form make before they are sent, and how many they may. */
export function AllocationPreview() {
  const { t } = useTranslation('admin')
  const { values } = useForm()
  const count = countAllocations(String(values.ip ?? ''), String(values.ports ?? ''))
  const isTooLarge = count !== null && count.total > maxAllocations
  const text = !count ? 'nodes.preview_limit' : isTooLarge ? 'nodes.preview_too_large' : 'nodes.preview'
  return (
    <p role="status" className={classNames(wide, 'text-sm', isTooLarge ? 'text-bad' : 'text-muted')}>
      {t(text, {
        total: formatNumber(count?.total ?? 0),
        addresses: formatNumber(count?.addresses ?? 0),
        ports: formatNumber(count?.ports ?? 0),
        max: formatNumber(maxAllocations),
      })}
    </p>
  )
}
