import { createContext, type ReactNode, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { ConfirmDialog, Dialog } from '../../components/dialog.tsx'

/** Tells the dialog around a form whether the form has unsaved changes. */
export const FormDialogContext = createContext<(isDirty: boolean) => void>(() => undefined)

/** A dialog around a form of few fields; it asks before it closes with unsaved changes. */
export function FormDialog({
  title,
  text,
  onClose,
  children,
}: {
  title: string
  text?: string
  onClose: () => void
  children: ReactNode
}) {
  const { t } = useTranslation('admin')
  const [isDirty, setDirty] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const close = () => (isDirty ? setAsking(true) : onClose())
  return (
    <FormDialogContext value={setDirty}>
      <Dialog open onOpenChange={close} title={title} {...(text ? { text } : {})}>
        {children}
      </Dialog>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={t('form.leave_title')}
        text={t('form.leave_text')}
        action={t('form.leave')}
        onConfirm={onClose}
      />
    </FormDialogContext>
  )
}
