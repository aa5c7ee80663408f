import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { asRequestError } from '../api/error.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { FormError } from '../components/field.tsx'
import { PasswordField } from '../components/password-field.tsx'

type ConfirmPasswordProps<Answer> = {
  onClose: () => void
  title: string
  text?: ReactNode
  /** Label of the submit button. */
  action: string
  danger?: boolean
  /** Makes the request with the password that was entered. */
  onSubmit: (password: string) => Promise<Answer>
  onDone: (answer: Answer) => void
  /** Describes an error that did not come from the panel. */
  describeError?: (error: unknown) => string | undefined
  /** Names of the fields among the children; their errors are shown there. */
  fields?: readonly string[]
  /** Further fields, shown above the password. */
  children?: ReactNode | ((error: unknown) => ReactNode)
}

/** Asks for the current password before it changes a sign-in method. Mount it to open it. */
export function ConfirmPasswordDialog<Answer>(props: ConfirmPasswordProps<Answer>) {
  const {
    onClose,
    title,
    text,
    action,
    danger = false,
    onSubmit,
    onDone,
    describeError,
    fields = [],
    children,
  } = props
  const { t } = useTranslation('account')
  const form = useId()
  const [password, setPassword] = useState('')
  const submission = useMutation({ mutationFn: () => onSubmit(password), onSuccess: onDone })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!submission.isPending) submission.mutate()
  }
  const requestError = asRequestError(submission.error)
  const isWrongPassword = requestError?.entries[0]?.code === 'InvalidPasswordProvidedException'
  const description = submission.error && !requestError ? describeError?.(submission.error) : undefined
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
          <Button
            type="submit"
            form={form}
            variant={danger ? 'danger' : 'primary'}
            busy={submission.isPending}
          >
            {action}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-4">
        {typeof children === 'function' ? children(submission.error) : children}
        <PasswordField
          label={t('password.current')}
          autoComplete="current-password"
          required
          error={isWrongPassword ? t('password.wrong') : undefined}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {!isWrongPassword && <FormError error={submission.error} fields={fields} />}
        {description && (
          <p role="alert" className="text-sm text-bad">
            {description}
          </p>
        )}
      </form>
    </Dialog>
  )
}
