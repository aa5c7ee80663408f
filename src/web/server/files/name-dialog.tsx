import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError, TextField } from '../../components/field.tsx'

/** Asks for a name that is not taken in the folder. */
export function NameDialog({
  title,
  label,
  action,
  initial,
  taken,
  busy = false,
  error,
  fieldError,
  onClose,
  onName,
}: {
  title: string
  label: string
  action: string
  initial: string
  taken: readonly string[]
  busy?: boolean
  error?: unknown
  fieldError?: string | undefined
  onClose: () => void
  onName: (name: string) => void
}) {
  const { t } = useTranslation('files')
  const form = useId()
  const [name, setName] = useState(initial)
  const isTaken = name !== initial && taken.includes(name)
  const isNoName = name.includes('/') || name === '.' || name === '..'
  const reason = isTaken ? t('trash:exists') : isNoName ? t('no_name') : fieldError
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
            look="primary"
            busy={busy}
            disabled={name.trim() === '' || name === initial || isTaken || isNoName}
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
          onName(name)
        }}
      >
        <TextField
          label={label}
          value={name}
          onChange={(event) => setName(event.target.value)}
          ref={focusOnName}
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

/** The field has the focus when the dialog opens, with all of the name marked but its ending. */
function focusOnName(field: HTMLInputElement | null): void {
  if (!field) return
  const dot = field.value.lastIndexOf('.')
  field.focus()
  field.setSelectionRange(0, dot > 0 ? dot : field.value.length)
}
