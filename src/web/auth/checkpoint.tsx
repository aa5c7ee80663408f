import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { asRequestError } from '../api/error.ts'
import { passCheckpoint, type SignInResult } from '../api/auth.ts'
import { Button } from '../components/button.tsx'
import { TextField } from '../components/field.tsx'
import { GuestPage } from './guest-page.tsx'
import { GuestFormError, useRetryWait } from './guest-form-error.tsx'

/** The panel accepts a second factor for this long. */
const checkpointTimeoutMs = 300_000

export type CheckpointEndReason = 'expired' | 'too_often' | 'cancelled'

/** Focuses the only field of the page. */
const focusField = (field: HTMLInputElement | null) => field?.focus()

type CheckpointProps = {
  confirmationToken: string
  onResult: (answer: SignInResult) => void
  /** Called when the checkpoint ends without a sign-in. */
  onEnd: (reason: CheckpointEndReason) => void
}

/** Asks for a code of the authenticator app, or for a recovery token. */
export function Checkpoint({ confirmationToken, onResult, onEnd }: CheckpointProps) {
  const { t } = useTranslation('auth')
  const [isRecovery, setRecovery] = useState(false)
  const [input, setInput] = useState('')
  const completion = useMutation({
    mutationFn: (proof: string) =>
      passCheckpoint(
        confirmationToken,
        isRecovery ? { recovery_token: proof } : { authentication_code: proof },
      ),
    onSuccess: onResult,
    onError: (error) => {
      setInput('')
      const rule = asRequestError(error)?.fieldRule('confirmation_token')
      if (rule) onEnd(rule === 'too_many_tries' ? 'too_often' : 'expired')
    },
  })
  const waitSeconds = useRetryWait(completion.error, completion.submittedAt)
  useEffect(() => {
    const timer = setTimeout(onEnd, checkpointTimeoutMs, 'expired')
    return () => clearTimeout(timer)
  }, [onEnd])
  const send = (proof: string) => {
    if (!completion.isPending && waitSeconds === 0 && proof !== '') completion.mutate(proof)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    send(input.trim())
  }
  const change = (text: string) => {
    setInput(text)
    const digits = text.replaceAll(/\s/g, '')
    if (!isRecovery && /^\d{6}$/.test(digits)) send(digits)
  }
  const switchProof = () => {
    setRecovery(!isRecovery)
    setInput('')
    completion.reset()
  }
  return (
    <GuestPage title={t('checkpoint.title')}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          key={String(isRecovery)}
          label={t(isRecovery ? 'checkpoint.recovery' : 'checkpoint.code')}
          ref={focusField}
          required
          value={input}
          onChange={(event) => change(event.target.value)}
          autoCapitalize="none"
          spellCheck={false}
          {...(isRecovery
            ? { autoComplete: 'off', maxLength: 255 }
            : { autoComplete: 'one-time-code', inputMode: 'numeric', pattern: '[0-9 ]*', maxLength: 16 })}
        />
        <GuestFormError
          error={completion.error}
          waitSeconds={waitSeconds}
          badRequestText={t('checkpoint.failed')}
        />
        <Button
          type="submit"
          variant="primary"
          busy={completion.isPending}
          disabled={waitSeconds > 0}
          className="w-full"
        >
          {t('checkpoint.submit')}
        </Button>
      </form>
      <div className="flex flex-wrap justify-between gap-2">
        <Button variant="quiet" onClick={switchProof}>
          {t(isRecovery ? 'checkpoint.use_code' : 'checkpoint.use_recovery')}
        </Button>
        <Button variant="quiet" onClick={() => onEnd('cancelled')}>
          {t('forgot.back')}
        </Button>
      </div>
    </GuestPage>
  )
}
