import { useTranslation } from '../app/use-translation.ts'
import type { View } from './home-tools.tsx'

/** A placeholder of the same size as the list. */
export function ServersSkeleton({ view }: { view: View }) {
  const { t } = useTranslation()
  const isTable = view === 'table'
  return (
    <div
      role="status"
      aria-label={t('loading')}
      className={isTable ? 'flex flex-col gap-px' : 'grid gap-3 md:grid-cols-2 xl:grid-cols-3'}
    >
      {Array.from({ length: 6 }, (_, index) => (
        <div
          key={index}
          className={`animate-pulse rounded-card border border-line bg-raised ${isTable ? 'h-13' : 'h-37'}`}
        />
      ))}
    </div>
  )
}
