import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { type SignInResult, signInWithPassword } from '../api/auth.ts'
import { Button } from '../components/button.tsx'
import { TextField } from '../components/field.tsx'
import { PasswordField } from '../components/password-field.tsx'
import { Checkbox } from '../components/switch.tsx'
import { CaptchaWidget, useCaptcha } from './captcha.tsx'
import { GuestLink } from './guest-page.tsx'
import { GuestFormError, useRetryWait } from './guest-form-error.tsx'

/** The sign-in form for username and password. */
export function PasswordSignIn({ onResult }: { onResult: (answer: SignInResult) => void }) {
  const { t } = useTranslation('auth')
  const captcha = useCaptcha()
  const [user, setUser] = useState('')
  const [password, setPassword] = useState('')
  const [remember, setRemember] = useState(false)
  const signIn = useMutation({
    mutationFn: () => signInWithPassword({ user, password, remember }, captcha.response),
    onSuccess: onResult,
    onError: captcha.reset,
  })
  const waitSeconds = useRetryWait(signIn.error, signIn.submittedAt)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!signIn.isPending && waitSeconds === 0) signIn.mutate()
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label={t('login.user')}
        name="user"
        autoComplete="username webauthn"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        required
        maxLength={191}
        value={user}
        onChange={(event) => setUser(event.target.value)}
      />
      <PasswordField
        label={t('login.password')}
        name="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <div className="flex flex-wrap items-center justify-between gap-x-4">
        <Checkbox label={t('login.remember')} checked={remember} onChange={setRemember} />
        <GuestLink to="/auth/password">{t('login.forgot')}</GuestLink>
      </div>
      <CaptchaWidget captcha={captcha} />
      <GuestFormError error={signIn.error} waitSeconds={waitSeconds} badRequestText={t('login.failed')} />
      <Button
        type="submit"
        variant="primary"
        busy={signIn.isPending}
        disabled={waitSeconds > 0 || !captcha.isSolved}
        className="w-full"
      >
        {t('login.submit')}
      </Button>
    </form>
  )
}
