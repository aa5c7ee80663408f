import { Link, useRouter } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { RequestError } from '../api/error.ts'
import { buttonStyle } from '../components/button.tsx'
import { EmptyState, ErrorState, Skeleton } from '../components/states.tsx'

export const RoutePending = () => (
  <div className="mx-auto w-full max-w-6xl p-4">
    <Skeleton />
  </div>
)

const betweenLooks = 5000

/** Code that did not come stays away for this page: the panel was away, or has been replaced by a newer one. */
const isMissingCode = (error: unknown) => error instanceof TypeError && /module|import/i.test(error.message)

/** Loads the page anew once the panel answers. */
function useReloadWhenBack(isAway: boolean): void {
  useEffect(() => {
    if (!isAway) return
    const look = async () => {
      const answer = await fetch('/health').catch(() => null)
      if (answer?.ok) location.reload()
    }
    const timer = setInterval(() => void look(), betweenLooks)
    return () => clearInterval(timer)
  }, [isAway])
}

/** A page whose data or code did not come: the reason, and another try. */
export function RouteError({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter()
  const { t } = useTranslation()
  const isAway = isMissingCode(error)
  useReloadWhenBack(isAway)
  const again = () => {
    if (isAway) location.reload()
    reset()
    void router.invalidate()
  }
  return (
    <div className="mx-auto w-full max-w-3xl p-4">
      <h1 className="sr-only">{t('error.title')}</h1>
      <ErrorState error={isAway ? new RequestError(0, [], null, null) : error} onRetry={again} />
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
