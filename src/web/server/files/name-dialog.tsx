import { useId, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError, TextField } from '../../components/field.tsx'

/** Asks for a name that does not exist in the folder yet. */
export function NameDialog({
  title,
  label,
  action,
  initial,
  existingNames,
  busy = false,
  error,
  fieldError,
  onClose,
  onSubmit,
}: {
  title: string
  label: string
  action: string
  initial: string
  existingNames: readonly string[]
  busy?: boolean
  error?: unknown
  fieldError?: string | undefined
  onClose: () => void
  onSubmit: (name: string) => void
}) {
  const { t } = useTranslation('files')
  const form = useId()
  const [name, setName] = useState(initial)
  const exists = name !== initial && existingNames.includes(name)
  const isNoName = name.includes('/') || name === '.' || name === '..'
  const reason = exists ? t('trash:exists') : isNoName ? t('no_name') : fieldError
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={title}
      width="small"
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button
            type="submit"
            form={form}
            variant="primary"
            busy={busy}
            disabled={name.trim() === '' || name === initial || exists || isNoName}
          >
            {action}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit(name)
        }}
      >
        <TextField
          label={label}
          value={name}
          onChange={(event) => setName(event.target.value)}
          ref={selectBaseName}
          error={reason}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
        />
        <FormError error={error} fields={['name']} />
      </form>
    </Dialog>
  )
}

/** Focuses the field and selects the name without its extension. */
function selectBaseName(field: HTMLInputElement | null): void {
  if (!field) return
  const dot = field.value.lastIndexOf('.')
  field.focus()
  field.setSelectionRange(0, dot > 0 ? dot : field.value.length)
}
