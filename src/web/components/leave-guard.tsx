import { useBlocker } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ConfirmDialog } from './dialog.tsx'

/**
 * Asks before the user leaves with unsaved changes. `staysOn` says whether a change of the address stays on the page
 * with the changes.
 */
export function LeaveGuard({
  isDirty,
  staysOn = () => false,
  ...texts
}: {
  isDirty: boolean
  staysOn?: (current: string, next: string) => boolean
  title: string
  text: string
  action: string
}) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !staysOn(current.pathname, next.pathname),
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  const { status, proceed } = blocker
  // A save that finishes meanwhile makes the question obsolete.
  useEffect(() => {
    if (status === 'blocked' && !isDirty) proceed()
  }, [status, proceed, isDirty])
  return (
    <ConfirmDialog
      {...texts}
      open={status === 'blocked' && isDirty}
      onOpenChange={(isOpen) => !isOpen && blocker.reset?.()}
      onConfirm={() => blocker.proceed?.()}
    />
  )
}
