import { useLocation, useNavigate } from '@tanstack/react-router'
import { LayoutGrid } from 'lucide-react'
import { Popover } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { useTranslation } from './use-translation.ts'
import { serverPages } from '../server/server-nav.tsx'
import { CommandPicker } from './command-picker.tsx'
import { type Command, useServerSearch } from './commands.ts'
import { useDebouncedValue } from './use-debounced-value.ts'

type ListProps = { open: boolean; onOpenChange: (open: boolean) => void; trigger: ReactNode }

/** The list of servers below the name of the open one; rendered from its first opening on. */
export function ServerSwitcherList({ open, onOpenChange, trigger }: ListProps) {
  const { t } = useTranslation('server')
  return (
    <Popover.Root open={open} onOpenChange={onOpenChange}>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={6}
          collisionPadding={8}
          aria-label={t('nav.switch')}
          className="z-50 flex max-h-[min(28rem,70dvh)] w-[min(22rem,calc(100vw-1rem))] animate-rise flex-col overflow-hidden rounded-card border border-line bg-surface shadow-2xl"
        >
          <Servers onDone={() => onOpenChange(false)} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

/** How many servers are listed; the search finds the others. */
const maxListed = 50

function Servers({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation('server')
  const navigate = useNavigate()
  const [input, setInput] = useState('')
  const search = useDebouncedValue(input.trim())
  const { commands, isSearching } = useServerSearch(search, maxListed, useSamePage())
  const all: Command = {
    id: 'all',
    group: 'pages',
    icon: LayoutGrid,
    text: t('nav.all_servers'),
    run: () => void navigate({ to: '/' }),
  }
  return (
    <CommandPicker
      label={t('nav.switch')}
      placeholder={t('nav.switch_placeholder')}
      input={input}
      onInput={setInput}
      commands={[...commands, all]}
      isSearching={isSearching}
      onRun={(command) => {
        onDone()
        command.run()
      }}
    />
  )
}

/** Returns the page that is open, to open it of another server; below it, and for what is no page, the nearest one. */
function useSamePage(): string {
  const page = `/${useLocation().pathname.split('/')[3] ?? ''}`
  return serverPages.find((known) => known.page === page)?.page ?? ''
}
