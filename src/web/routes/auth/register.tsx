import { useMutation, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { methodsQuery, register } from '../../api/auth.ts'
import { asRequestError } from '../../api/error.ts'
import { CaptchaWidget, useCaptcha } from '../../auth/captcha.tsx'
import { DisabledForm, GuestLink, GuestPage } from '../../auth/guest-page.tsx'
import { NewPasswordFields } from '../../auth/new-password.tsx'
import { GuestFormError, useRetryWait } from '../../auth/guest-form-error.tsx'
import { Button } from '../../components/button.tsx'
import { TextField } from '../../components/field.tsx'
import { Loaded } from '../../components/states.tsx'

export const Route = createFileRoute('/auth/register')({ component: Register })

function Register() {
  const { t } = useTranslation('auth')
  const methods = useQuery(methodsQuery(false))
  return (
    <GuestPage title={t('page.register.title')} text={t('page.register.text')}>
      <Loaded query={methods}>
        {({ registration_enabled: isEnabled }) =>
          isEnabled ? <Form /> : <DisabledForm text={t('register.disabled')} />
        }
      </Loaded>
    </GuestPage>
  )
}

function Form() {
  const { t } = useTranslation('auth')
  const captcha = useCaptcha()
  const [names, setNames] = useState({ username: '', email: '' })
  const [passwords, setPasswords] = useState({ password: '', password_confirmation: '' })
  const registering = useMutation({
    mutationFn: () => register({ ...names, ...passwords }, captcha.response),
    onSuccess: () => location.assign('/'),
    onError: captcha.reset,
  })
  const requestError = asRequestError(registering.error)
  const waitSeconds = useRetryWait(registering.error, registering.submittedAt)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!registering.isPending && waitSeconds === 0) registering.mutate()
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label={t('strings:word.username')}
        name="username"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        maxLength={191}
        error={requestError?.fieldError('username')}
        value={names.username}
        onChange={(event) => setNames({ ...names, username: event.target.value })}
      />
      <TextField
        label={t('strings:word.email')}
        name="email"
        type="email"
        autoComplete="email"
        required
        maxLength={191}
        error={requestError?.fieldError('email')}
        value={names.email}
        onChange={(event) => setNames({ ...names, email: event.target.value })}
      />
      <NewPasswordFields
        labels={[t('login.password'), t('register.confirm')]}
        value={passwords}
        onChange={setPasswords}
        error={requestError?.fieldError('password')}
      />
      <CaptchaWidget captcha={captcha} />
      <GuestFormError
        error={registering.error}
        waitSeconds={waitSeconds}
        fields={['username', 'email', 'password']}
      />
      <Button
        type="submit"
        variant="primary"
        busy={registering.isPending}
        disabled={waitSeconds > 0 || !captcha.isSolved}
        className="w-full"
      >
        {t('register.submit')}
      </Button>
      <GuestLink to="/auth/login">{t('register.have_account')}</GuestLink>
    </form>
  )
}
