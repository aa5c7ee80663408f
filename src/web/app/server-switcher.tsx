import { useQuery } from '@tanstack/react-query'
import { ChevronsUpDown } from 'lucide-react'
import { cloneElement, lazy, Suspense, useState } from 'react'
import { useTranslation } from './use-translation.ts'
import { serverQuery } from '../api/servers.ts'

const load = () => import('./server-switcher-list.tsx')
const preload = () => void load().catch(() => undefined)
const ServerSwitcherList = lazy(async () => ({ default: (await load()).ServerSwitcherList }))

/** The name of the open server, which opens a list of the others. */
export function ServerSwitcher({ server }: { server: string }) {
  const { t } = useTranslation('server')
  const { data } = useQuery({ ...serverQuery(server), enabled: false })
  const [isOpen, setOpen] = useState(false)
  const [wasOpen, setWasOpen] = useState(false)
  if (isOpen && !wasOpen) setWasOpen(true)
  const name = data?.attributes.name ?? server
  const button = (
    <button
      type="button"
      aria-label={t('nav.switch_server', { server: name })}
      className="flex min-h-9 min-w-0 items-center gap-1.5 rounded-control px-2 font-medium transition-colors hover:bg-raised"
    >
      <span className="truncate">{name}</span>
      <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-muted" />
    </button>
  )
  const closed = cloneElement(button, {
    'aria-haspopup': 'dialog',
    'aria-expanded': false,
    onPointerEnter: preload,
    onFocus: preload,
    onClick: () => setOpen(true),
  })
  if (!wasOpen) return closed
  return (
    <Suspense fallback={closed}>
      <ServerSwitcherList open={isOpen} onOpenChange={setOpen} trigger={button} />
    </Suspense>
  )
}
