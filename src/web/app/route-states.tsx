import { Link, useRouter } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { useEffect } from 'react'
import { useTranslation } from './use-translation.ts'
import { monitoringApi } from '../api/client.ts'
import { RequestError } from '../api/error.ts'
import { buttonStyle } from '../components/button.tsx'
import { EmptyState, ErrorState, Skeleton } from '../components/states.tsx'

export const RoutePending = () => (
  <div className="mx-auto w-full max-w-7xl p-4 in-[main]:p-0">
    <Skeleton />
  </div>
)

const pollIntervalMs = 5000

/** Whether code failed to load: the panel was unreachable, or a new version has replaced the file. */
const isChunkLoadError = (error: unknown) =>
  error instanceof TypeError && /module|import/i.test(error.message)

/** Reloads the page once the panel is healthy again. */
function useReloadWhenHealthy(isChunkMissing: boolean): void {
  useEffect(() => {
    if (!isChunkMissing) return
    const reloadIfHealthy = async () => {
      const answer = await monitoringApi.health.$get().catch(() => null)
      if (answer) location.reload()
    }
    const timer = setInterval(() => void reloadIfHealthy(), pollIntervalMs)
    return () => clearInterval(timer)
  }, [isChunkMissing])
}

/** Shows why a page failed to load, with a button to retry. */
export function RouteError({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter()
  const { t } = useTranslation()
  const isChunkMissing = isChunkLoadError(error)
  useReloadWhenHealthy(isChunkMissing)
  const retry = () => {
    if (isChunkMissing) location.reload()
    reset()
    void router.invalidate()
  }
  return (
    <div className="mx-auto w-full max-w-3xl p-4">
      <h1 className="sr-only">{t('error.title')}</h1>
      <ErrorState error={isChunkMissing ? new RequestError(0, [], null, null) : error} onRetry={retry} />
    </div>
  )
}

export function NotFound() {
  const { t } = useTranslation()
  return (
    <div className="mx-auto w-full max-w-3xl p-4">
      <h1 className="sr-only">{t('error.not_found')}</h1>
      <EmptyState icon={SearchX} title={t('error.not_found')} text={t('failure.advice_missing')}>
        <Link to="/" className={buttonStyle('primary')}>
          {t('word.servers')}
        </Link>
      </EmptyState>
    </div>
  )
}
