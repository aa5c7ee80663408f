import { useMutation } from '@tanstack/react-query'
import { createContext, type FormEvent, type ReactNode, use, useEffect, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { refetchAdmin } from '../../api/admin.ts'
import { asRequestError, type RequestError } from '../../api/error.ts'
import { Button } from '../../components/button.tsx'
import { FormError } from '../../components/field.tsx'
import { LeaveGuard } from '../../components/leave-guard.tsx'
import { toast } from '../../components/toast.tsx'
import { ConflictBanner } from './conflict-banner.tsx'
import { ChangedMeanwhile, type Current, differ, saveUnlessChanged } from './current-version.ts'
import { FormDialogContext } from './form-dialog.tsx'

/** Values of a form by the names that the API gives its fields, so that its errors find them. */
export type FormValues = Record<string, string | boolean>

type FormState = {
  values: FormValues
  set: (name: string, value: string | boolean) => void
  /** Sets what follows from a choice, which is no change by the user. */
  fill: (values: FormValues) => void
  error: RequestError | null
}

const FormContext = createContext<FormState | null>(null)

/** Returns the values of the form around a field. */
export function useForm(): FormState {
  const form = use(FormContext)
  if (!form) throw new Error('This field stands in no form.')
  return form
}

/** Returns the value of a field, how to change it, and what the API said about it. */
export function useFormField(name: string) {
  const { values, set, error } = useForm()
  // The API names the members of lists and records: `ports.0`.
  const ownError = error?.entries.find(({ meta }) => {
    const field = meta?.source_field
    return field === name || field?.startsWith(`${name}.`)
  })
  return {
    value: values[name] ?? '',
    set: (value: string | boolean) => set(name, value),
    error: ownError?.detail,
  }
}

type ResourceFormProps<Answer> = {
  initial: FormValues
  /** Gets the version that the panel is to expect, where the resource has one. */
  save: (values: FormValues, version: string | null) => Promise<Answer>
  onSaved?: (answer: Answer) => void
  submit?: string
  /** Said once it is saved. */
  saved?: string
  /**
   * Fetches the present values, so that changes of others since the form was loaded are noticed; `currentOf` with the
   * version, for resources that have one.
   */
  fetchCurrent?: (() => Promise<Current | FormValues>) | undefined
  /** What the activity calls the resource. */
  subject?: { type: string; id: number } | undefined
  isReadOnly?: boolean
  children: ReactNode
}

/** A form of a resource: errors stand beside their fields, and changes of others are not overwritten unseen. */
export function ResourceForm<Answer>({
  initial,
  fetchCurrent,
  isReadOnly,
  children,
  ...props
}: ResourceFormProps<Answer>) {
  const { t } = useTranslation('admin')
  // What the form began with, until it is saved or loaded again.
  const [base, setBase] = useState(initial)
  const [values, setValues] = useState(initial)
  const saving = useMutation({
    mutationFn: ({ over }: { over: Current | null }) => {
      const send = (version: string | null) => props.save(values, version)
      if (over) return send(over.version)
      return fetchCurrent ? saveUnlessChanged(base, fetchCurrent, send) : send(null)
    },
    onSuccess: async (answer) => {
      toast(props.saved ?? t('form.saved'))
      setBase(values)
      props.onSaved?.(answer)
      await refetchAdmin()
    },
  })
  const conflict = saving.error instanceof ChangedMeanwhile ? saving.error.current : null
  const isChanged = differ(base, values)
  const showCurrent = (current: Current) => {
    saving.reset()
    setBase((now) => ({ ...now, ...current.values }))
    setValues((now) => ({ ...now, ...current.values }))
    void refetchAdmin()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!saving.isPending) saving.mutate({ over: null })
  }
  const error = asRequestError(saving.error)
  const set = (name: string, value: string | boolean) => setValues((now) => ({ ...now, [name]: value }))
  const fill = (more: FormValues) => {
    setBase((now) => ({ ...now, ...more }))
    setValues((now) => ({ ...now, ...more }))
  }
  return (
    <FormContext value={{ values, set, fill, error }}>
      <UnsavedChanges isDirty={isChanged} />
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        <fieldset disabled={isReadOnly ?? false} className="flex min-w-0 flex-col gap-4">
          {children}
        </fieldset>
        {conflict ? (
          <ConflictBanner
            base={base}
            current={conflict}
            subject={props.subject}
            onReload={() => showCurrent(conflict)}
            onOverwrite={() => saving.mutate({ over: conflict })}
          />
        ) : (
          <FormError error={saving.error} fields={fieldsOf(error, values)} />
        )}
        {!isReadOnly && (
          <div className="flex flex-wrap justify-end gap-2">
            {isChanged && (
              <Button variant="quiet" onClick={() => setValues(base)}>
                {t('form.discard')}
              </Button>
            )}
            <Button type="submit" variant="primary" busy={saving.isPending}>
              {props.submit ?? t('strings:action.save')}
            </Button>
          </div>
        )}
      </form>
    </FormContext>
  )
}

/** Warns before a page, or the dialog around the form, is left with unsaved changes. A list on the same page may change. */
function UnsavedChanges({ isDirty }: { isDirty: boolean }) {
  const { t } = useTranslation('admin')
  const tellDialog = use(FormDialogContext)
  useEffect(() => tellDialog(isDirty), [tellDialog, isDirty])
  return (
    <LeaveGuard
      isDirty={isDirty}
      staysOn={(current, next) => current === next}
      title={t('form.leave_title')}
      text={t('form.leave_text')}
      action={t('form.leave')}
    />
  )
}

/** Lists the fields with errors that the form shows beside them. */
const fieldsOf = (error: RequestError | null, values: FormValues): string[] =>
  (error?.entries ?? [])
    .map(({ meta }) => meta?.source_field ?? '')
    .filter((field) => Object.keys(values).some((name) => field === name || field.startsWith(`${name}.`)))
