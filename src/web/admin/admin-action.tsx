import { useMutation } from '@tanstack/react-query'
import type { LucideIcon } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { refetchAdmin } from '../api/admin.ts'
import { Button, IconButton } from '../components/button.tsx'
import { ConfirmDialog } from '../components/dialog.tsx'
import { toast, toastError } from '../components/toast.tsx'

type AdminActionProps = {
  label: string
  icon?: LucideIcon
  variant?: 'plain' | 'primary' | 'danger' | 'quiet'
  /** Shows the icon alone; the label is its tooltip. */
  isCompact?: boolean
  disabled?: boolean
  /** Asks first; `typed` has to be typed before. */
  confirm?: { title: string; text: ReactNode; typed?: string; isDanger?: boolean }
  run: () => Promise<unknown>
  /** Said when it has been done. */
  done?: string
  onDone?: () => void
}

/** A button that changes a resource: asks where the change cannot be undone, says what came of it, and refetches. */
export function AdminAction({
  label,
  icon,
  variant,
  isCompact,
  disabled,
  confirm,
  ...props
}: AdminActionProps) {
  const { t } = useTranslation('admin')
  const [isAsking, setAsking] = useState(false)
  const action = useMutation({
    mutationFn: props.run,
    onSuccess: async () => {
      if (props.done) toast(props.done)
      setAsking(false)
      props.onDone?.()
      await refetchAdmin()
    },
    onError: (error) => {
      if (!confirm) toastError(error, t('strings:failure.other'))
    },
  })
  const start = () => (confirm ? setAsking(true) : action.mutate())
  const shared = { onClick: start, busy: action.isPending, disabled: disabled ?? false }
  return (
    <>
      {isCompact && icon ? (
        <IconButton icon={icon} label={label} variant={variant ?? 'quiet'} {...shared} />
      ) : (
        <Button {...(icon ? { icon } : {})} variant={variant ?? 'plain'} {...shared}>
          {label}
        </Button>
      )}
      {confirm && (
        <ConfirmDialog
          open={isAsking}
          onOpenChange={(open) => {
            setAsking(open)
            action.reset()
          }}
          title={confirm.title}
          text={confirm.text}
          action={label}
          danger={confirm.isDanger ?? true}
          {...(confirm.typed === undefined ? {} : { confirmationText: confirm.typed })}
          onConfirm={() => action.mutate()}
          busy={action.isPending}
          error={action.error}
        />
      )}
    </>
  )
}
