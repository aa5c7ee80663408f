import { useTranslation } from 'react-i18next'
import { PasswordField } from '../components/password-field.tsx'

/** Characters of a password, at least. */
const shortest = 8

export type NewPassword = { password: string; password_confirmation: string }

type NewPasswordFieldsProps = {
  labels: readonly [password: string, confirmation: string]
  value: NewPassword
  onChange: (value: NewPassword) => void
  /** The panel's sentence about the password. */
  error: string | undefined
}

/** A new password, written twice; says while it is written when the two differ. Its texts: `auth`. */
export function NewPasswordFields({ labels, value, onChange, error }: NewPasswordFieldsProps) {
  const { t } = useTranslation('auth')
  const { password, password_confirmation: again } = value
  const differs = again !== '' && !password.startsWith(again)
  return (
    <>
      <PasswordField
        label={labels[0]}
        name="password"
        autoComplete="new-password"
        required
        minLength={shortest}
        hint={t('reset.rule', { count: shortest })}
        error={error}
        value={password}
        onChange={(event) => onChange({ ...value, password: event.target.value })}
      />
      <PasswordField
        label={labels[1]}
        name="password_confirmation"
        autoComplete="new-password"
        required
        error={differs ? t('reset.mismatch') : undefined}
        value={again}
        onChange={(event) => onChange({ ...value, password_confirmation: event.target.value })}
      />
    </>
  )
}

/** Whether it may be sent. */
export const isConfirmed = ({ password, password_confirmation: again }: NewPassword): boolean =>
  password.length >= shortest && password === again
