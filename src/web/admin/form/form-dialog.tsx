import type { ReactNode } from 'react'
import { Dialog } from '../../components/dialog.tsx'

/** A dialog around a form of few fields. */
export const FormDialog = ({
  title,
  text,
  onClose,
  children,
}: {
  title: string
  text?: string
  onClose: () => void
  children: ReactNode
}) => (
  <Dialog open onOpenChange={onClose} title={title} {...(text ? { text } : {})}>
    {children}
  </Dialog>
)
