import { useMutation, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from '../../../app/use-translation.ts'
import { methodsQuery, resetPassword } from '../../../api/auth.ts'
import { asRequestError } from '../../../api/error.ts'
import { BackToSignIn, DisabledForm, GuestLink, GuestPage } from '../../../auth/guest-page.tsx'
import { isConfirmed, NewPasswordFields } from '../../../auth/new-password.tsx'
import { GuestFormError, useRetryWait } from '../../../auth/guest-form-error.tsx'
import { Banner } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { TextField } from '../../../components/field.tsx'
import { Loaded } from '../../../components/states.tsx'

export const Route = createFileRoute('/auth/password/reset/$token')({
  validateSearch: ({ email }: Record<string, unknown>): { email?: string } =>
    typeof email === 'string' ? { email } : {},
  component: ResetPassword,
})

function ResetPassword() {
  const { t } = useTranslation('auth')
  const methods = useQuery(methodsQuery(false))
  return (
    <GuestPage title={t('page.reset.title')} text={t('page.reset.text')}>
      <Loaded query={methods}>
        {({ passwords_enabled: isEnabled }) =>
          isEnabled ? <Form /> : <DisabledForm text={t('login.passwords_off')} />
        }
      </Loaded>
    </GuestPage>
  )
}

function Form() {
  const { t } = useTranslation('auth')
  const { token } = Route.useParams()
  const { email: emailInLink = '' } = Route.useSearch()
  const [email, setEmail] = useState(emailInLink)
  const [passwords, setPasswords] = useState({ password: '', password_confirmation: '' })
  const saving = useMutation({
    mutationFn: () => resetPassword({ token, email, ...passwords }),
    onSuccess: ({ send_to_login: mustSignIn }) => {
      if (!mustSignIn) location.assign('/')
    },
  })
  const waitSeconds = useRetryWait(saving.error, saving.submittedAt)
  const requestError = asRequestError(saving.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!saving.isPending && waitSeconds === 0) saving.mutate()
  }
  if (saving.data?.send_to_login) {
    return (
      <>
        <Banner tone="good" title={t('reset.sign_in_again')} />
        <BackToSignIn />
      </>
    )
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label={t('strings:word.email')}
        name="email"
        type="email"
        autoComplete="username"
        required
        readOnly={emailInLink !== ''}
        error={requestError?.fieldError('email')}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <NewPasswordFields
        labels={[t('reset.password'), t('reset.confirm')]}
        value={passwords}
        onChange={setPasswords}
        error={requestError?.fieldError('password')}
      />
      <GuestFormError
        error={saving.error}
        waitSeconds={waitSeconds}
        badRequestText={t('reset.invalid')}
        fields={['email', 'password']}
      />
      {requestError?.status === 400 && <GuestLink to="/auth/password">{t('reset.new_link')}</GuestLink>}
      <Button
        type="submit"
        variant="primary"
        busy={saving.isPending || saving.isSuccess}
        disabled={waitSeconds > 0 || !isConfirmed(passwords)}
        className="w-full"
      >
        {t('reset.submit')}
      </Button>
    </form>
  )
}
