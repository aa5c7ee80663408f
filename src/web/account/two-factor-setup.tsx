import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { enableTwoFactor, setUpTwoFactor } from '../api/account.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { TextField } from '../components/field.tsx'
import { Loaded, Skeleton } from '../components/states.tsx'
import { ConfirmPasswordDialog } from './confirm-password-dialog.tsx'
import { QrCode } from './qr-code.tsx'

/** Splits a secret into groups of four characters, which are easier to type. */
const inGroupsOfFour = (secret: string) => secret.match(/.{1,4}/g)?.join(' ') ?? secret

/** Shows the secret for an authenticator app, and turns on two-factor authentication with its first code. */
export function TwoFactorSetup({
  onClose,
  onDone,
}: {
  onClose: () => void
  onDone: (recoveryTokens: string[]) => void
}) {
  const { t } = useTranslation('account')
  const [code, setCode] = useState('')
  const setup = useQuery({
    queryKey: ['account', 'two-factor-setup'],
    queryFn: setUpTwoFactor,
    // Each request creates another secret, and is refused once two-factor authentication is on.
    staleTime: 'static',
    gcTime: 0,
  })
  return (
    <ConfirmPasswordDialog
      onClose={onClose}
      title={t('two_factor.title')}
      text={t('two_factor.scan')}
      action={t('two_factor.enable')}
      onSubmit={(password) => enableTwoFactor({ code: code.replaceAll(/\s/g, ''), password })}
      onDone={onDone}
    >
      <Loaded query={setup} skeleton={<Skeleton rows={1} className="h-48" />}>
        {({ uri, secret }) => (
          <div className="flex flex-col items-center gap-3">
            <QrCode text={uri} label={t('two_factor.qr')} />
            <div className="flex w-full items-center justify-between gap-2 rounded-control bg-raised py-1 pe-1 ps-3 text-sm">
              <span className="min-w-0">
                <span className="text-muted">{t('two_factor.key')}</span>{' '}
                <code className="wrap-anywhere">{inGroupsOfFour(secret)}</code>
              </span>
              <CopyButton text={secret} label={t('two_factor.key_copy')} />
            </div>
          </div>
        )}
      </Loaded>
      <TextField
        label={t('two_factor.code')}
        autoComplete="one-time-code"
        inputMode="numeric"
        pattern="[0-9 ]*"
        required
        value={code}
        onChange={(event) => setCode(event.target.value)}
      />
    </ConfirmPasswordDialog>
  )
}
