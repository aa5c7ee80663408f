import { useMatch, useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from './use-translation.ts'
import { Button, IconButton } from '../components/button.tsx'
import type { CommandDialog } from './command-dialogs.tsx'
import { useShortcuts } from './shortcuts.ts'

// Most visits never open these dialogs, so they are loaded on first use.
const CommandDialogs = lazy(async () => ({ default: (await import('./command-dialogs.tsx')).CommandDialogs }))

/** Shows the button for the command palette, and registers the global keyboard shortcuts. */
export function CommandMenu() {
  const { t } = useTranslation('server')
  const [open, setOpen] = useState<CommandDialog | null>(null)
  const [wasEverOpen, setWasEverOpen] = useState(false)
  if (open !== null && !wasEverOpen) setWasEverOpen(true)
  const server = useMatch({ from: '/_app/server/$server', shouldThrow: false })?.params.server
  const navigate = useNavigate()
  const goTo: Partial<Record<string, string>> = {
    h: '/',
    a: '/account',
    ...(server ? { c: `/server/${server}`, f: `/server/${server}/files` } : {}),
  }
  useShortcuts({
    onMenu: () => setOpen('menu'),
    onHelp: () => setOpen('help'),
    onGo: (key) => {
      const to = goTo[key]
      if (to) void navigate({ to: to as '/' })
    },
  })
  const label = t('commands.title')
  return (
    <>
      <span className="hidden sm:block">
        <Button
          icon={Search}
          aria-keyshortcuts="Control+K Meta+K"
          onClick={() => setOpen('menu')}
          className="text-muted"
        >
          {t('commands.button')}
          <kbd className="rounded-[0.25rem] border border-line px-1.5 font-mono text-xs">Ctrl K</kbd>
        </Button>
      </span>
      <span className="sm:hidden">
        <IconButton icon={Search} label={label} onClick={() => setOpen('menu')} />
      </span>
      {wasEverOpen && (
        <Suspense>
          <CommandDialogs server={server} open={open} onOpen={setOpen} />
        </Suspense>
      )}
    </>
  )
}
