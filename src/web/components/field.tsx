import { type ComponentProps, type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { asRequestError } from '../api/error.ts'
import { classNames } from './class-names.ts'

type FieldProps = {
  label: string
  /** Said below the field. */
  hint?: ReactNode
  /** The panel's sentence about this field. */
  error?: string | undefined
  className?: string
  /** The label is for readers of screens alone. */
  hideLabel?: boolean
}

type Wiring = { id: string; 'aria-describedby': string | undefined; 'aria-invalid': true | undefined }

/** A labelled control with its hint and the reason for which it was refused. */
export function Field({
  label,
  hint,
  error,
  className,
  hideLabel,
  children,
}: FieldProps & { children: (wiring: Wiring) => ReactNode }) {
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

/** A line of text with its label. */
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
      {(wiring) => <input {...rest} {...wiring} className={controlStyle} />}
    </Field>
  )
}

/** Several lines of text with their label; `mono` for paths, keys and the like. */
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
      {(wiring) => (
        <textarea rows={4} {...rest} {...wiring} className={classNames(controlStyle, mono && 'font-mono')} />
      )}
    </Field>
  )
}

/** A choice from a few, by the browser's own list: it suits phones best. */
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
      {(wiring) => (
        <select {...rest} {...wiring} className={classNames(controlStyle, 'pr-8')}>
          {children}
        </select>
      )}
    </Field>
  )
}

/** What a refusal says that belongs to none of the fields of a form. */
export function FormError({ error, fields = [] }: { error: unknown; fields?: readonly string[] }) {
  const { t } = useTranslation()
  const refusal = asRequestError(error)
  const sentences = refusal?.otherThan(fields) ?? []
  if (refusal?.entries.length === 0)
    sentences.push(t(refusal.status === 0 ? 'error.offline' : 'failure.other'))
  if (sentences.length === 0) return null
  return (
    <div role="alert" className="rounded-control bg-bad-soft px-3 py-2 text-sm text-bad">
      {sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </div>
  )
}
