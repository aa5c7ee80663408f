import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { accountQuery, changeEmail } from '../api/account.ts'
import { asRequestError } from '../api/error.ts'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { FormError, TextField } from '../components/field.tsx'
import { PasswordField } from '../components/password-field.tsx'
import { PrivateText } from '../components/private-text.tsx'
import { toast } from '../components/toast.tsx'

const empty = { email: '', password: '' }

/** Gives the account another address. */
export function EmailForm({ current }: { current: string }) {
  const { t } = useTranslation('account')
  const queries = useQueryClient()
  const [form, setForm] = useState(empty)
  const changing = useMutation({
    mutationFn: () => changeEmail(form),
    onSuccess: () => {
      toast(t('email.saved'))
      setForm(empty)
      return queries.invalidateQueries({ queryKey: accountQuery.queryKey })
    },
  })
  const refusal = asRequestError(changing.error)
  const isWrong = refusal?.entries[0]?.code === 'InvalidPasswordProvidedException'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!changing.isPending) changing.mutate()
  }
  return (
    <Card title={t('email.title')}>
      <form onSubmit={submit} className="flex max-w-md flex-col gap-4">
        <p className="text-sm">
          <span className="text-muted">{t('email.current')}</span>{' '}
          <PrivateText text={current} className="font-medium wrap-anywhere" />
        </p>
        <TextField
          label={t('email.new')}
          type="email"
          autoComplete="email"
          required
          error={refusal?.fieldError('email')}
          value={form.email}
          onChange={(event) => setForm({ ...form, email: event.target.value })}
        />
        <PasswordField
          label={t('password.current')}
          autoComplete="current-password"
          required
          error={isWrong ? t('password.wrong') : undefined}
          value={form.password}
          onChange={(event) => setForm({ ...form, password: event.target.value })}
        />
        {!isWrong && <FormError error={changing.error} fields={['email']} />}
        <Button type="submit" look="primary" busy={changing.isPending} className="self-start">
          {t('email.title')}
        </Button>
      </form>
    </Card>
  )
}
