import { KeyRound } from 'lucide-react'
import { useTranslation } from '../app/use-translation.ts'
import { providerPath, type SignInMethods, type SignInResult } from '../api/auth.ts'
import { asRequestError } from '../api/error.ts'
import { Banner } from '../components/badge.tsx'
import { Button, buttonStyle } from '../components/button.tsx'
import { GuestLink, GuestPage } from './guest-page.tsx'
import { arePasskeysSupported, isCancelled, usePasskeys } from './passkey-sign-in.ts'
import { PasswordSignIn } from './password-sign-in.tsx'
import { GuestFormError, useRetryWait } from './guest-form-error.tsx'

type SignInProps = {
  methods: SignInMethods
  /** Where to go after signing in, if known. */
  redirectPath: string | undefined
  /** Why the previous attempt ended. */
  notice: string | null
  onResult: (answer: SignInResult) => void
}

/** Shows every sign-in method that is enabled. */
export function SignIn({ methods, redirectPath, notice, onResult }: SignInProps) {
  const { t } = useTranslation('auth')
  const { passwords_enabled: passwords, passkeys_enabled: passkeys, providers, error } = methods
  return (
    <GuestPage title={t('page.login.title')} text={t('page.login.text')}>
      {error && <Banner tone="bad" title={error} />}
      {notice && <Banner tone="warn" title={notice} />}
      {passwords && <PasswordSignIn onResult={onResult} />}
      {passwords && (passkeys || providers.length > 0) && <Or />}
      {(passkeys || providers.length > 0) && (
        <div className="flex flex-col gap-2">
          {passkeys && <PasskeySignIn hasAutofillField={passwords} onResult={onResult} />}
          {providers.map(({ id, name }) => (
            <a key={id} href={providerPath(id, redirectPath)} className={buttonStyle()}>
              {t('oauth.submit', { provider: name })}
            </a>
          ))}
        </div>
      )}
      {methods.registration_enabled && <GuestLink to="/auth/register">{t('login.register')}</GuestLink>}
    </GuestPage>
  )
}

function PasskeySignIn({
  hasAutofillField,
  onResult,
}: {
  /** Whether there is a field whose autofill offers passkeys. */
  hasAutofillField: boolean
  onResult: (answer: SignInResult) => void
}) {
  const { t } = useTranslation('auth')
  const {
    promptForPasskey: prompt,
    isPrompting,
    error,
    failedAt,
  } = usePasskeys({ enabled: hasAutofillField, onResult })
  const waitSeconds = useRetryWait(error, failedAt)
  if (!arePasskeysSupported()) {
    return hasAutofillField ? null : <p className="text-sm text-muted">{t('passkey.unsupported')}</p>
  }
  return (
    <>
      <Button icon={KeyRound} busy={isPrompting} disabled={waitSeconds > 0} onClick={prompt}>
        {t(isPrompting ? 'passkey.waiting' : 'passkey.submit')}
      </Button>
      {asRequestError(error) ? (
        <GuestFormError error={error} waitSeconds={waitSeconds} badRequestText={t('passkey.failed')} />
      ) : (
        error && (
          <p role="alert" className="text-sm text-bad">
            {t(isCancelled(error) ? 'passkey.cancelled' : 'passkey.failed')}
          </p>
        )
      )}
    </>
  )
}

function Or() {
  const { t } = useTranslation('auth')
  return (
    <p className="flex items-center gap-3 text-sm text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      {t('login.or')}
    </p>
  )
}
