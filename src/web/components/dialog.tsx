import { type ComponentType, lazy, Suspense, useState } from 'react'
import type { ConfirmProps, DialogProps } from './lazy-dialog.tsx'

// Most pages have dialogs that are rarely opened, so their code is loaded with the first one.
const load = () => import('./lazy-dialog.tsx')
const LazyDialog = lazy(async () => ({ default: (await load()).LazyDialog }))
const LazyConfirmDialog = lazy(async () => ({ default: (await load()).LazyConfirmDialog }))

/** A modal dialog; it traps the focus and restores it when it closes. */
export const Dialog = (props: DialogProps) => <MountOnOpen as={LazyDialog} props={props} />

/** Asks for confirmation before an action that cannot be undone. */
export const ConfirmDialog = (props: ConfirmProps) => <MountOnOpen as={LazyConfirmDialog} props={props} />

/** Renders what has `open` from when it is opened first: a list would have one for each of its rows. */
export function MountOnOpen<Props extends { open: boolean }>({
  as: Content,
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
      <Content {...props} />
    </Suspense>
  )
}
