import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { asRequestError } from '../api/error.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { FormError } from '../components/field.tsx'
import { PasswordField } from '../components/password-field.tsx'

type PasswordProofProps<Answer> = {
  onClose: () => void
  title: string
  text?: ReactNode
  /** What the button says. */
  action: string
  danger?: boolean
  /** Does it, with the password as proof. */
  run: (password: string) => Promise<Answer>
  onDone: (answer: Answer) => void
  /** A failure that is no answer of the panel, in words. */
  explain?: (error: unknown) => string | undefined
  /** Names of the fields among the children. */
  fields?: readonly string[]
  /** Further fields, before that of the password. */
  children?: ReactNode | ((error: unknown) => ReactNode)
}

/** Changes how somebody signs in, once he has shown that he knows his password. It is open while it is there. */
export function PasswordProofDialog<Answer>(props: PasswordProofProps<Answer>) {
  const { onClose, title, text, action, danger = false, run, onDone, explain, fields = [], children } = props
  const { t } = useTranslation('account')
  const form = useId()
  const [password, setPassword] = useState('')
  const proving = useMutation({ mutationFn: () => run(password), onSuccess: onDone })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!proving.isPending) proving.mutate()
  }
  const refusal = asRequestError(proving.error)
  const isWrong = refusal?.entries[0]?.code === 'InvalidPasswordProvidedException'
  const reason = proving.error && !refusal ? explain?.(proving.error) : undefined
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={title}
      text={text}
      width="small"
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} look={danger ? 'danger' : 'primary'} busy={proving.isPending}>
            {action}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-4">
        {typeof children === 'function' ? children(proving.error) : children}
        <PasswordField
          label={t('password.current')}
          autoComplete="current-password"
          required
          error={isWrong ? t('password.wrong') : undefined}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {!isWrong && <FormError error={proving.error} fields={fields} />}
        {reason && (
          <p role="alert" className="text-sm text-bad">
            {reason}
          </p>
        )}
      </form>
    </Dialog>
  )
}
