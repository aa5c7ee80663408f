import { useEffect } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from '../app/use-translation.ts'
import { Banner } from '../components/badge.tsx'
import { usePanelReachable } from './use-panel-reachable.ts'

/** Says that there is no connection to the panel, and what works without one; refreshes the page when it is back. */
export function OfflineNotice() {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const isReachable = usePanelReachable()
  useEffect(() => {
    if (isReachable) return
    // What was shown meanwhile is as old as it was kept.
    return () => void queryClient.invalidateQueries()
  }, [isReachable, queryClient])
  if (isReachable) return null
  return (
    <div className="mx-auto w-full max-w-7xl px-4 pt-4">
      <Banner tone="warn" title={t(navigator.onLine ? 'failure.offline' : 'connection.offline')}>
        {t('connection.offline_text')}
      </Banner>
    </div>
  )
}
