import { useEffect, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { browserApi } from '../api/client.ts'
import { sessionEnded } from '../api/request.ts'
import { formatTime } from '../app/formats.ts'
import { type Acting, site } from '../app/site.ts'
import { Button } from '../components/button.tsx'
import { toastError } from '../components/toast.tsx'
import { pageBefore } from './page-before.ts'

/** Says at the bottom of every page who acts for whom and until when, and leads back to the administrator's own page. */
export function ActingBar({ acting: { administrator, until } }: { acting: Acting }) {
  const { t } = useTranslation('account')
  const isOver = useIsOver(until)
  const [isLeaving, setLeaving] = useState(false)
  const names = { administrator, user: site.user?.username ?? '', time: formatTime(until) }
  const leave = async () => {
    setLeaving(true)
    try {
      await browserApi.auth.acting.leave.$post()
      location.assign(pageBefore())
    } catch (error) {
      setLeaving(false)
      toastError(error, t('strings:failure.other'))
    }
  }
  return (
    <aside
      aria-label={t('acting.label')}
      className="sticky bottom-(--bottom-bar) z-40 border-t border-line bg-warn-soft text-sm text-warn"
    >
      <div className="flex w-full items-center gap-4 lg:px-6 px-4 py-2">
        <p role="status" className="min-w-0 wrap-anywhere">
          <strong>{t('acting.who', names)}</strong> {isOver ? t('acting.over') : t('acting.until', names)}
        </p>
        <Button busy={isLeaving} onClick={() => void leave()}>
          {t('acting.leave')}
        </Button>
      </div>
    </aside>
  )
}

/** Whether the time is up, or the panel has ended the session before. */
function useIsOver(until: string): boolean {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const end = () => setOver(true)
    const timer = setTimeout(end, Math.max(0, new Date(until).getTime() - Date.now()))
    sessionEnded.addEventListener('ended', end)
    return () => {
      clearTimeout(timer)
      sessionEnded.removeEventListener('ended', end)
    }
  }, [until])
  return isOver
}
