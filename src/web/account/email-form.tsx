import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { accountQuery, changeEmail, emailAddressQuery } from '../api/account.ts'
import { asRequestError } from '../api/error.ts'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { FormError, TextField } from '../components/field.tsx'
import { PasswordField } from '../components/password-field.tsx'
import { PrivateText } from '../components/private-text.tsx'
import { toast } from '../components/toast.tsx'
import { EmailStatus } from './email-status.tsx'

const emptyForm = { email: '', password: '' }

/** Changes the email address of the account, and shows one that waits for its mailed link. */
export function EmailForm({ current }: { current: string }) {
  const { t } = useTranslation('account')
  const queries = useQueryClient()
  const { data: address } = useQuery(emailAddressQuery)
  const [form, setForm] = useState(emptyForm)
  const changing = useMutation({
    mutationFn: () => changeEmail(form),
    onSuccess: async () => {
      setForm(emptyForm)
      await queries.invalidateQueries({ queryKey: accountQuery.queryKey })
      const { pending_email: pending } = await queries.ensureQueryData(emailAddressQuery)
      toast(t(pending === null ? 'email.saved' : 'email.requested'))
    },
  })
  const requestError = asRequestError(changing.error)
  const isWrongPassword = requestError?.entries[0]?.code === 'InvalidPasswordProvidedException'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!changing.isPending) changing.mutate()
  }
  return (
    <Card title={t('email.title')}>
      <form onSubmit={submit} className="flex max-w-md flex-col gap-4">
        {address?.status !== 'released' && (
          <p className="text-sm">
            <span className="text-muted">{t('email.current')}</span>{' '}
            <PrivateText text={current} className="font-medium wrap-anywhere" />
          </p>
        )}
        {address && <EmailStatus address={address} />}
        <TextField
          label={t('email.new')}
          type="email"
          autoComplete="email"
          required
          error={requestError?.fieldError('email')}
          value={form.email}
          onChange={(event) => setForm({ ...form, email: event.target.value })}
        />
        <PasswordField
          label={t('password.current')}
          autoComplete="current-password"
          required
          error={isWrongPassword ? t('password.wrong') : undefined}
          value={form.password}
          onChange={(event) => setForm({ ...form, password: event.target.value })}
        />
        {!isWrongPassword && <FormError error={changing.error} fields={['email']} />}
        <Button type="submit" variant="primary" busy={changing.isPending} className="self-start">
          {t('email.title')}
        </Button>
      </form>
    </Card>
  )
}
