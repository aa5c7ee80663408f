import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { asRequestError } from '../api/error.ts'
import { passCheckpoint, type SignInAnswer } from '../api/auth.ts'
import { Button } from '../components/button.tsx'
import { TextField } from '../components/field.tsx'
import { GuestPage } from './guest-page.tsx'
import { Refusal, useWait } from './refusal.tsx'

/** Milliseconds for which the panel waits for the second factor. */
const lastsFor = 300_000

export type CheckpointEnd = 'expired' | 'too_often' | 'cancelled'

/** The one field of the page is written into at once. */
const focusOnce = (field: HTMLInputElement | null) => field?.focus()

type CheckpointProps = {
  confirmationToken: string
  onAnswer: (answer: SignInAnswer) => void
  /** It is over, and nobody is signed in. */
  onEnd: (reason: CheckpointEnd) => void
}

/** Asks for a code of the authenticator, or a recovery token. */
export function Checkpoint({ confirmationToken, onAnswer, onEnd }: CheckpointProps) {
  const { t } = useTranslation('auth')
  const [isRecovery, setRecovery] = useState(false)
  const [written, setWritten] = useState('')
  const passing = useMutation({
    mutationFn: (proof: string) =>
      passCheckpoint(
        confirmationToken,
        isRecovery ? { recovery_token: proof } : { authentication_code: proof },
      ),
    onSuccess: onAnswer,
    onError: (error) => {
      setWritten('')
      const rule = asRequestError(error)?.brokenRule('confirmation_token')
      if (rule) onEnd(rule === 'too_many_tries' ? 'too_often' : 'expired')
    },
  })
  const wait = useWait(passing.error, passing.submittedAt)
  useEffect(() => {
    const timer = setTimeout(onEnd, lastsFor, 'expired')
    return () => clearTimeout(timer)
  }, [onEnd])
  const send = (proof: string) => {
    if (!passing.isPending && wait === 0 && proof !== '') passing.mutate(proof)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    send(written.trim())
  }
  const write = (text: string) => {
    setWritten(text)
    const digits = text.replaceAll(/\s/g, '')
    if (!isRecovery && /^\d{6}$/.test(digits)) send(digits)
  }
  const switchProof = () => {
    setRecovery(!isRecovery)
    setWritten('')
    passing.reset()
  }
  return (
    <GuestPage title={t('checkpoint.title')}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          key={String(isRecovery)}
          label={t(isRecovery ? 'checkpoint.recovery' : 'checkpoint.code')}
          ref={focusOnce}
          required
          value={written}
          onChange={(event) => write(event.target.value)}
          autoCapitalize="none"
          spellCheck={false}
          {...(isRecovery
            ? { autoComplete: 'off', maxLength: 255 }
            : { autoComplete: 'one-time-code', inputMode: 'numeric', pattern: '[0-9 ]*', maxLength: 16 })}
        />
        <Refusal error={passing.error} wait={wait} refused={t('checkpoint.failed')} />
        <Button type="submit" look="primary" busy={passing.isPending} disabled={wait > 0} className="w-full">
          {t('checkpoint.submit')}
        </Button>
      </form>
      <div className="flex flex-wrap justify-between gap-2">
        <Button look="quiet" onClick={switchProof}>
          {t(isRecovery ? 'checkpoint.use_code' : 'checkpoint.use_recovery')}
        </Button>
        <Button look="quiet" onClick={() => onEnd('cancelled')}>
          {t('forgot.back')}
        </Button>
      </div>
    </GuestPage>
  )
}
