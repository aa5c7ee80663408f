import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { changePassword } from '../api/account.ts'
import { asRequestError } from '../api/error.ts'
import { isConfirmed, NewPasswordFields } from '../auth/new-password.tsx'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { FormError } from '../components/field.tsx'
import { PasswordField } from '../components/password-field.tsx'
import { toast } from '../components/toast.tsx'

const emptyPasswords = { password: '', password_confirmation: '' }

/** Changes the password of the account. The panel then ends all other sessions. */
export function PasswordForm({ username }: { username: string }) {
  const { t } = useTranslation('account')
  const [current, setCurrent] = useState('')
  const [passwords, setPasswords] = useState(emptyPasswords)
  const changing = useMutation({
    mutationFn: () => changePassword({ current_password: current, ...passwords }),
    onSuccess: () => {
      toast(t('password.saved'))
      setCurrent('')
      setPasswords(emptyPasswords)
    },
  })
  const requestError = asRequestError(changing.error)
  const isWrongPassword = requestError?.entries[0]?.code === 'InvalidPasswordProvidedException'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!changing.isPending) changing.mutate()
  }
  return (
    <Card title={t('password.title')}>
      <form onSubmit={submit} className="flex max-w-md flex-col gap-4">
        {/* Tells password managers which account the password belongs to. */}
        <input type="text" autoComplete="username" value={username} readOnly hidden />
        <PasswordField
          label={t('password.current')}
          autoComplete="current-password"
          required
          error={isWrongPassword ? t('password.wrong') : undefined}
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
        />
        <NewPasswordFields
          labels={[t('password.new'), t('password.confirm')]}
          value={passwords}
          onChange={setPasswords}
          error={requestError?.fieldError('password')}
        />
        {!isWrongPassword && <FormError error={changing.error} fields={['password']} />}
        <Button
          type="submit"
          variant="primary"
          busy={changing.isPending}
          disabled={!isConfirmed(passwords)}
          className="self-start"
        >
          {t('password.title')}
        </Button>
      </form>
    </Card>
  )
}
