import { useMutation, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { browserSupportsWebAuthn } from '@simplewebauthn/browser'
import { KeyRound, LockKeyhole } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import { chooseDemo, setUpWithPasskey, setUpWithPassword, setupStateQuery } from '../../api/setup.ts'
import { site } from '../../app/site.ts'
import { GuestFormError, useRetryWait } from '../../auth/guest-form-error.tsx'
import { GuestPage } from '../../auth/guest-page.tsx'
import { NewPasswordFields } from '../../auth/new-password.tsx'
import { isCancelled } from '../../auth/passkey-sign-in.ts'
import { Banner } from '../../components/badge.tsx'
import { Button, buttonStyle } from '../../components/button.tsx'
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
        {({ is_due: isDue, has_passkeys: hasPasskeys, has_demo: hasDemo }) =>
          isDue ? (
            <Form
              hasPasskeys={hasPasskeys && browserSupportsWebAuthn()}
              hasDemo={hasDemo}
              onDone={() => void state.refetch()}
            />
          ) : (
            <SetUpAlready />
          )
        }
      </Loaded>
    </GuestPage>
  )
}

/** Leads on who has just set the panel up, or comes back to this page later. */
function SetUpAlready() {
  const { t } = useTranslation('auth')
  const [path, text] = site.acl
    ? (['/admin/setup', 'setup.continue'] as const)
    : (['/auth/login', 'forgot.back'] as const)
  return (
    <>
      <Banner tone="info" title={t('setup.done')} />
      {/* A full page load: this page may have been loaded when there was no user. */}
      <a href={path} className={buttonStyle('primary')}>
        {t(text)}
      </a>
    </>
  )
}

const fields = ['code', 'username', 'email', 'password']
type Method = 'password' | 'passkey'
type FormProps = { hasPasskeys: boolean; hasDemo: boolean; onDone: () => void }

function Form({ hasPasskeys, hasDemo, onDone }: FormProps) {
  const { t } = useTranslation('auth')
  const [form, setForm] = useState({ code: '', username: '', email: '' })
  const [passwords, setPasswords] = useState({ password: '', password_confirmation: '' })
  const [method, setMethod] = useState<Method>('password')
  const creating = useMutation({
    mutationFn: (choice: Method | 'demo'): Promise<unknown> => {
      if (choice === 'demo') return chooseDemo(form.code)
      return choice === 'passkey' ? setUpWithPasskey(form) : setUpWithPassword(form, passwords)
    },
    // A full page load: the page of an administrator begins with their levels.
    onSuccess: (_answer, choice) => location.assign(choice === 'demo' ? '/admin' : '/admin/setup'),
    // Another administrator has set the panel up meanwhile.
    onError: (error) => asRequestError(error)?.status === 403 && onDone(),
  })
  const requestError = asRequestError(creating.error)
  const waitSeconds = useRetryWait(creating.error, creating.submittedAt)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!creating.isPending && waitSeconds === 0) creating.mutate(method)
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
      {hasPasskeys && <MethodChoice method={method} onChange={setMethod} />}
      {method === 'password' ? (
        <NewPasswordFields
          labels={[t('login.password'), t('register.confirm')]}
          value={passwords}
          onChange={setPasswords}
          error={requestError?.fieldError('password')}
        />
      ) : (
        <p className="text-sm text-muted">{t('setup.passkey_text')}</p>
      )}
      {creating.error && !requestError ? (
        <p role="alert" className="rounded-control bg-bad-soft px-3 py-2 text-sm text-bad">
          {t(isCancelled(creating.error) ? 'setup.passkey_cancelled' : 'passkey.failed')}
        </p>
      ) : (
        <GuestFormError error={creating.error} waitSeconds={waitSeconds} fields={fields} />
      )}
      <Button
        type="submit"
        variant="primary"
        busy={creating.isPending && creating.variables !== 'demo'}
        disabled={creating.isPending || waitSeconds > 0}
        className="w-full"
      >
        {t(method === 'passkey' ? 'setup.submit_passkey' : 'setup.submit')}
      </Button>
      {hasDemo && (
        <div className="flex flex-col gap-2 border-t border-line pt-4">
          <p className="text-sm text-muted">{t('setup.demo_text')}</p>
          <Button
            busy={creating.isPending && creating.variables === 'demo'}
            disabled={creating.isPending || waitSeconds > 0}
            onClick={() => creating.mutate('demo')}
            className="w-full"
          >
            {t('setup.demo')}
          </Button>
        </div>
      )}
    </form>
  )
}

const methods = [
  ['password', LockKeyhole],
  ['passkey', KeyRound],
] as const

/** How the first administrator signs in. */
function MethodChoice({ method, onChange }: { method: Method; onChange: (method: Method) => void }) {
  const { t } = useTranslation('auth')
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">{t('setup.method')}</legend>
      <div className="grid grid-cols-2 gap-2">
        {methods.map(([name, Icon]) => (
          <label
            key={name}
            className="flex min-h-10 cursor-pointer items-center gap-2 rounded-control border border-line-strong px-3 text-sm has-checked:border-brand has-checked:bg-brand-soft has-checked:text-brand-text has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-brand"
          >
            <input
              type="radio"
              name="method"
              value={name}
              checked={method === name}
              onChange={() => onChange(name)}
              className="sr-only"
            />
            <Icon aria-hidden className="size-4 shrink-0" />
            {t(`setup.method_${name}`)}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
