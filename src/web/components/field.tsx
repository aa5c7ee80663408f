import { type ComponentProps, type ReactNode, useId } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { asRequestError } from '../api/error.ts'
import { classNames } from './class-names.ts'

type FieldProps = {
  label: string
  /** Help text below the field. */
  hint?: ReactNode
  /** The error of this field. */
  error?: string | undefined
  className?: string
  /** Shows the label to screen readers only. */
  hideLabel?: boolean
}

type ControlProps = { id: string; 'aria-describedby': string | undefined; 'aria-invalid': true | undefined }

/** A labelled control with its help text and error. */
export function Field({
  label,
  hint,
  error,
  className,
  hideLabel,
  children,
}: FieldProps & { children: (control: ControlProps) => ReactNode }) {
  const id = useId()
  const described = classNames(hint ? `${id}-hint` : null, error ? `${id}-error` : null)
  return (
    <div className={classNames('flex min-w-0 flex-col gap-1.5', className)}>
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'text-sm font-medium'}>
        {label}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {hint && (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
    </div>
  )
}

export const controlStyle =
  'w-full min-h-9 rounded-control border border-line-strong bg-surface px-3 py-1.5 text-sm text-ink placeholder:text-muted aria-invalid:border-bad disabled:bg-raised disabled:text-muted [&[readonly]]:bg-raised'

/** A single-line text field. */
export function TextField({
  label,
  hint,
  error,
  className,
  hideLabel,
  ...rest
}: FieldProps & Omit<ComponentProps<'input'>, 'className'>) {
  return (
    <Field label={label} hint={hint} error={error} className={className} hideLabel={hideLabel}>
      {(control) => <input {...rest} {...control} className={controlStyle} />}
    </Field>
  )
}

/** A multi-line text field; `mono` for paths and keys. */
export function TextArea({
  label,
  hint,
  error,
  className,
  hideLabel,
  mono = false,
  ...rest
}: FieldProps & Omit<ComponentProps<'textarea'>, 'className'> & { mono?: boolean }) {
  return (
    <Field label={label} hint={hint} error={error} className={className} hideLabel={hideLabel}>
      {(control) => (
        <textarea rows={4} {...rest} {...control} className={classNames(controlStyle, mono && 'font-mono')} />
      )}
    </Field>
  )
}

/** A native select, which works best on phones. */
export function SelectField({
  label,
  hint,
  error,
  className,
  hideLabel,
  children,
  ...rest
}: FieldProps & Omit<ComponentProps<'select'>, 'className'>) {
  return (
    <Field label={label} hint={hint} error={error} className={className} hideLabel={hideLabel}>
      {(control) => (
        <select {...rest} {...control} className={classNames(controlStyle, 'pe-8')}>
          {children}
        </select>
      )}
    </Field>
  )
}

/** Shows the errors that belong to none of the fields of a form. */
export function FormError({ error, fields = [] }: { error: unknown; fields?: readonly string[] }) {
  const { t } = useTranslation()
  const requestError = asRequestError(error)
  const details = requestError?.detailsExcept(fields) ?? []
  if (requestError?.entries.length === 0)
    details.push(t(requestError.status === 0 ? 'error.offline' : 'failure.other'))
  if (details.length === 0) return null
  return (
    <div role="alert" className="rounded-control bg-bad-soft px-3 py-2 text-sm text-bad">
      {details.map((detail) => (
        <p key={detail}>{detail}</p>
      ))}
    </div>
  )
}
