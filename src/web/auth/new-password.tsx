import { useTranslation } from '../app/use-translation.ts'
import { PasswordField } from '../components/password-field.tsx'

/** The minimum length of a password, in characters. */
const minPasswordLength = 8

export type NewPassword = { password: string; password_confirmation: string }

type NewPasswordFieldsProps = {
  labels: readonly [password: string, confirmation: string]
  value: NewPassword
  onChange: (value: NewPassword) => void
  /** The panel's error about the password. */
  error: string | undefined
}

/** Two fields for a new password, with an error while they differ. Needs the texts `auth`. */
export function NewPasswordFields({ labels, value, onChange, error }: NewPasswordFieldsProps) {
  const { t } = useTranslation('auth')
  const { password, password_confirmation: confirmation } = value
  const isMismatch = confirmation !== '' && !password.startsWith(confirmation)
  return (
    <>
      <PasswordField
        label={labels[0]}
        name="password"
        autoComplete="new-password"
        required
        minLength={minPasswordLength}
        hint={t('reset.rule', { count: minPasswordLength })}
        error={error}
        value={password}
        onChange={(event) => onChange({ ...value, password: event.target.value })}
      />
      <PasswordField
        label={labels[1]}
        name="password_confirmation"
        autoComplete="new-password"
        required
        error={isMismatch ? t('reset.mismatch') : undefined}
        value={confirmation}
        onChange={(event) => onChange({ ...value, password_confirmation: event.target.value })}
      />
    </>
  )
}

/** Whether the password is long enough and was confirmed. */
export const isConfirmed = ({ password, password_confirmation: confirmation }: NewPassword): boolean =>
  password.length >= minPasswordLength && password === confirmation
