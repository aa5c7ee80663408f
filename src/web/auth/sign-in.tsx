import { KeyRound } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { SignInAnswer, SignInMethods } from '../api/auth.ts'
import { asRequestError } from '../api/error.ts'
import { Banner } from '../components/badge.tsx'
import { Button, buttonStyle } from '../components/button.tsx'
import { GuestLink, GuestPage } from './guest-page.tsx'
import { arePasskeysSupported, isCancelled, usePasskeys } from './passkey-sign-in.ts'
import { PasswordSignIn } from './password-sign-in.tsx'
import { Refusal, useWait } from './refusal.tsx'

type SignInProps = {
  methods: SignInMethods
  /** The page that is wanted once somebody is signed in, as far as it is known. */
  intended: string | undefined
  /** Why an attempt before this one ended. */
  notice: string | null
  onAnswer: (answer: SignInAnswer) => void
}

/** All ways to sign in which the administrator has switched on. */
export function SignIn({ methods, intended, notice, onAnswer }: SignInProps) {
  const { t } = useTranslation('auth')
  const { passwords_enabled: passwords, passkeys_enabled: passkeys, providers, error } = methods
  return (
    <GuestPage title={t('page.login.title')} text={t('page.login.text')}>
      {error && <Banner tone="bad" title={error} />}
      {notice && <Banner tone="warn" title={notice} />}
      {passwords && <PasswordSignIn onAnswer={onAnswer} />}
      {passwords && (passkeys || providers.length > 0) && <Or />}
      {(passkeys || providers.length > 0) && (
        <div className="flex flex-col gap-2">
          {passkeys && <PasskeySignIn hasField={passwords} onAnswer={onAnswer} />}
          {providers.map(({ id, name }) => (
            <a key={id} href={providerLink(id, intended)} className={buttonStyle()}>
              {t('oauth.submit', { provider: name })}
            </a>
          ))}
        </div>
      )}
      {methods.registration_enabled && <GuestLink to="/auth/register">{t('login.register')}</GuestLink>}
    </GuestPage>
  )
}

/** The panel keeps what is wanted until somebody comes back from the provider. */
const providerLink = (id: string, intended: string | undefined): string =>
  `/auth/oauth/${encodeURIComponent(id)}${intended ? `?${new URLSearchParams({ intended })}` : ''}`

function PasskeySignIn({
  hasField,
  onAnswer,
}: {
  /** There is a field whose suggestions name passkeys. */
  hasField: boolean
  onAnswer: (answer: SignInAnswer) => void
}) {
  const { t } = useTranslation('auth')
  const { ask, isAsking, error, failedAt } = usePasskeys({ enabled: hasField, onAnswer })
  const wait = useWait(error, failedAt)
  if (!arePasskeysSupported()) {
    return hasField ? null : <p className="text-sm text-muted">{t('passkey.unsupported')}</p>
  }
  return (
    <>
      <Button icon={KeyRound} busy={isAsking} disabled={wait > 0} onClick={ask}>
        {t(isAsking ? 'passkey.waiting' : 'passkey.submit')}
      </Button>
      {asRequestError(error) ? (
        <Refusal error={error} wait={wait} refused={t('passkey.failed')} />
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
