import { type ReactNode, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { asRequestError } from '../api/error.ts'
import { formatDuration } from '../app/formats.ts'
import { FormError } from '../components/field.tsx'

/** Told every second. */
function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, 1000)
  return () => clearInterval(timer)
}

/** Seconds until an instant; 0 afterwards. */
const useCountdown = (until: number): number =>
  useSyncExternalStore(subscribe, () => Math.max(0, Math.ceil((until - Date.now()) / 1000)))

/** How long nothing may be sent, when the panel said so; 0 otherwise. `answeredAt` is when it did. */
export function useWait(error: unknown, answeredAt: number): number {
  const refusal = asRequestError(error)
  return useCountdown(refusal?.status === 429 ? answeredAt + (refusal.retryAfter ?? 60) * 1000 : 0)
}

type RefusalProps = {
  error: unknown
  /** Seconds that are left to wait, of `useWait`. */
  wait: number
  /** What a status 400 means on this form. */
  refused?: string
  /** Fields that show their own sentences. */
  fields?: readonly string[]
}

/** Why a form for guests was refused. */
export function Refusal({ error, wait, refused, fields = [] }: RefusalProps) {
  const { t } = useTranslation('auth')
  const refusal = asRequestError(error)
  if (refusal?.status === 429) {
    if (wait === 0) return null
    return (
      <Alert>
        <p role="alert">{t('lock.title')}</p>
        <p role="timer" className="tabular-nums">
          {t('lock.wait', { time: formatDuration(wait * 1000) })}
        </p>
      </Alert>
    )
  }
  if (refusal?.status === 400) {
    const isCaptcha = refusal.entries[0]?.code === 'HttpException'
    const text = isCaptcha ? t('captcha.failed') : (refused ?? refusal.message)
    return (
      <Alert>
        <p role="alert">{text}</p>
      </Alert>
    )
  }
  return <FormError error={error} fields={fields} />
}

const Alert = ({ children }: { children: ReactNode }) => (
  <div className="rounded-control bg-bad-soft px-3 py-2 text-sm text-bad">{children}</div>
)
