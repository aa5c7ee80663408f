import { useMutation, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { setUpPanel, setupStateQuery } from '../../api/auth.ts'
import { asRequestError } from '../../api/error.ts'
import { GuestFormError, useRetryWait } from '../../auth/guest-form-error.tsx'
import { DisabledForm, GuestPage } from '../../auth/guest-page.tsx'
import { NewPasswordFields } from '../../auth/new-password.tsx'
import { Button } from '../../components/button.tsx'
import { TextField } from '../../components/field.tsx'
import { Loaded } from '../../components/states.tsx'

export const Route = createFileRoute('/auth/setup')({ component: Setup })

/** The first page of a panel without users: makes its first administrator, who goes on in the administration. */
function Setup() {
  const { t } = useTranslation('auth')
  const state = useQuery(setupStateQuery)
  return (
    <GuestPage title={t('page.setup.title')} text={t('setup.text')}>
      <Loaded query={state}>
        {({ is_due: isDue }) => (isDue ? <Form /> : <DisabledForm text={t('setup.done')} />)}
      </Loaded>
    </GuestPage>
  )
}

const fields = ['code', 'username', 'email', 'password']

function Form() {
  const { t } = useTranslation('auth')
  const [form, setForm] = useState({ code: '', username: '', email: '' })
  const [passwords, setPasswords] = useState({ password: '', password_confirmation: '' })
  const creating = useMutation({
    mutationFn: () => setUpPanel({ ...form, ...passwords }),
    // A full page load: the page of an administrator begins with their levels.
    onSuccess: () => location.assign('/admin'),
  })
  const requestError = asRequestError(creating.error)
  const waitSeconds = useRetryWait(creating.error, creating.submittedAt)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!creating.isPending && waitSeconds === 0) creating.mutate()
  }
  const field = (name: keyof typeof form) => ({
    name,
    required: true,
    error: requestError?.fieldError(name),
    value: form[name],
    onChange: ({ target }: { target: HTMLInputElement }) => setForm({ ...form, [name]: target.value }),
  })
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label={t('setup.code')}
        hint={t('setup.code_text')}
        autoComplete="off"
        spellCheck={false}
        {...field('code')}
      />
      <TextField
        label={t('strings:word.username')}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        {...field('username')}
      />
      <TextField label={t('strings:word.email')} type="email" autoComplete="email" {...field('email')} />
      <NewPasswordFields
        labels={[t('login.password'), t('register.confirm')]}
        value={passwords}
        onChange={setPasswords}
        error={requestError?.fieldError('password')}
      />
      <GuestFormError error={creating.error} waitSeconds={waitSeconds} fields={fields} />
      <Button
        type="submit"
        variant="primary"
        busy={creating.isPending}
        disabled={waitSeconds > 0}
        className="w-full"
      >
        {t('setup.submit')}
      </Button>
    </form>
  )
}
