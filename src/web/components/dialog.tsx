import { type ComponentType, lazy, Suspense, useState } from 'react'
import type { ConfirmProps, DialogProps } from './dialog-window.tsx'

// Most pages have dialogs, and most of these are never opened: their code comes when the first one is.
const load = () => import('./dialog-window.tsx')
const OpenedDialog = lazy(async () => ({ default: (await load()).OpenedDialog }))
const OpenedConfirmDialog = lazy(async () => ({ default: (await load()).OpenedConfirmDialog }))

/** A window over the page: keeps the focus, and gives it back to what opened it. */
export const Dialog = (props: DialogProps) => <OnceOpen as={OpenedDialog} props={props} />

/** Asks before something that cannot be undone. */
export const ConfirmDialog = (props: ConfirmProps) => <OnceOpen as={OpenedConfirmDialog} props={props} />

function OnceOpen<Props extends { open: boolean }>({
  as: Window,
  props,
}: {
  as: ComponentType<Props>
  props: Props
}) {
  const [wasOpen, setWasOpen] = useState(props.open)
  if (props.open && !wasOpen) setWasOpen(true)
  if (!wasOpen) return null
  return (
    <Suspense>
      <Window {...props} />
    </Suspense>
  )
}
