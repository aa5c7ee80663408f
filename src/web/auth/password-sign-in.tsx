import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type SignInAnswer, signInWithPassword } from '../api/auth.ts'
import { Button } from '../components/button.tsx'
import { TextField } from '../components/field.tsx'
import { PasswordField } from '../components/password-field.tsx'
import { Checkbox } from '../components/switch.tsx'
import { CaptchaWidget, useCaptcha } from './captcha.tsx'
import { GuestLink } from './guest-page.tsx'
import { Refusal, useWait } from './refusal.tsx'

/** Name and password. */
export function PasswordSignIn({ onAnswer }: { onAnswer: (answer: SignInAnswer) => void }) {
  const { t } = useTranslation('auth')
  const captcha = useCaptcha()
  const [user, setUser] = useState('')
  const [password, setPassword] = useState('')
  const [remember, setRemember] = useState(false)
  const signing = useMutation({
    mutationFn: () => signInWithPassword({ user, password, remember }, captcha.response),
    onSuccess: onAnswer,
    onError: captcha.reset,
  })
  const wait = useWait(signing.error, signing.submittedAt)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!signing.isPending && wait === 0) signing.mutate()
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
      <Refusal error={signing.error} wait={wait} refused={t('login.failed')} />
      <Button
        type="submit"
        look="primary"
        busy={signing.isPending}
        disabled={wait > 0 || !captcha.isSolved}
        className="w-full"
      >
        {t('login.submit')}
      </Button>
    </form>
  )
}
