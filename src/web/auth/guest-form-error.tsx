import { type ReactNode, useSyncExternalStore } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { asRequestError } from '../api/error.ts'
import { formatDuration } from '../app/formats.ts'
import { FormError } from '../components/field.tsx'

/** Calls the listener every second. */
function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, 1000)
  return () => clearInterval(timer)
}

/** Returns the seconds until `until`; 0 afterwards. */
const useCountdown = (until: number): number =>
  useSyncExternalStore(subscribe, () => Math.max(0, Math.ceil((until - Date.now()) / 1000)))

/**
 * Returns for how many seconds the form must not be submitted after a 429; 0 otherwise. `answeredAt` is when it
 * came.
 */
export function useRetryWait(error: unknown, answeredAt: number): number {
  const requestError = asRequestError(error)
  return useCountdown(requestError?.status === 429 ? answeredAt + (requestError.retryAfter ?? 60) * 1000 : 0)
}

type GuestFormErrorProps = {
  error: unknown
  /** Remaining seconds from `useRetryWait`. */
  waitSeconds: number
  /** Text for a status 400 on this form. */
  badRequestText?: string
  /** Fields that show their own errors. */
  fields?: readonly string[]
}

/** Shows why a form on a guest page failed. */
export function GuestFormError({ error, waitSeconds, badRequestText, fields = [] }: GuestFormErrorProps) {
  const { t } = useTranslation('auth')
  const requestError = asRequestError(error)
  if (requestError?.status === 429) {
    if (waitSeconds === 0) return null
    return (
      <Alert>
        <p role="alert">{t('lock.title')}</p>
        <p role="timer" className="tabular-nums">
          {t('lock.wait', { time: formatDuration(waitSeconds * 1000) })}
        </p>
      </Alert>
    )
  }
  if (requestError?.status === 400) {
    const isCaptcha = requestError.entries[0]?.code === 'HttpException'
    const text = isCaptcha ? t('captcha.failed') : (badRequestText ?? requestError.message)
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
