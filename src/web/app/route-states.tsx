import { Link, useRouter } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { buttonStyle } from '../components/button.tsx'
import { EmptyState, ErrorState, Skeleton } from '../components/states.tsx'

export const RoutePending = () => (
  <div className="mx-auto w-full max-w-6xl p-4">
    <Skeleton />
  </div>
)

/** A page whose data did not come: the reason, and another try. */
export function RouteError({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter()
  const { t } = useTranslation()
  const again = () => {
    reset()
    void router.invalidate()
  }
  return (
    <div className="mx-auto w-full max-w-3xl p-4">
      <h1 className="sr-only">{t('error.title')}</h1>
      <ErrorState error={error} onRetry={again} />
    </div>
  )
}

export function NotFound() {
  const { t } = useTranslation()
  return (
    <div className="mx-auto w-full max-w-3xl p-4">
      <h1 className="sr-only">{t('error.not_found')}</h1>
      <EmptyState icon={SearchX} title={t('error.not_found')}>
        <Link to="/" className={buttonStyle()}>
          {t('word.servers')}
        </Link>
      </EmptyState>
    </div>
  )
}
