import { Dialog as Radix } from 'radix-ui'
import { useState } from 'react'
import { useTranslation } from './use-translation.ts'
import { KillDialog } from '../server/power.tsx'
import { CommandPicker } from './command-picker.tsx'
import { type CommandHandlers, useCommands } from './commands.ts'
import { useDebouncedValue } from './use-debounced-value.ts'
import { ShortcutsDialog } from './shortcuts-dialog.tsx'

export type CommandDialog = 'menu' | 'help' | 'kill'

/** The dialogs that the top bar and the keyboard shortcuts open. */
export function CommandDialogs({
  server,
  open,
  onOpen,
}: {
  /** Identifier of the server whose pages are open. */
  server: string | undefined
  open: CommandDialog | null
  onOpen: (name: CommandDialog | null) => void
}) {
  const { t } = useTranslation('server')
  const show = (name: CommandDialog) => (isOpen: boolean) => onOpen(isOpen ? name : null)
  return (
    <>
      <Radix.Root open={open === 'menu'} onOpenChange={show('menu')}>
        <Radix.Portal>
          <Radix.Overlay className="fixed inset-0 z-40 bg-black/50" />
          <Radix.Content
            aria-describedby={undefined}
            className="fixed inset-x-2 top-2 z-50 mx-auto flex max-h-[80dvh] max-w-xl flex-col overflow-hidden rounded-card border border-line bg-surface shadow-2xl sm:top-[12dvh]"
          >
            <Radix.Title className="sr-only">{t('commands.title')}</Radix.Title>
            <CommandList
              server={server}
              onDone={() => onOpen(null)}
              onKill={() => onOpen('kill')}
              onHelp={() => onOpen('help')}
            />
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
      <ShortcutsDialog open={open === 'help'} onOpenChange={show('help')} />
      {server && <KillDialog server={server} open={open === 'kill'} onOpenChange={show('kill')} />}
    </>
  )
}

type ListProps = CommandHandlers & { server: string | undefined; onDone: () => void }

/** The command palette. */
function CommandList({ server, onDone, ...handlers }: ListProps) {
  const { t } = useTranslation('server')
  const [input, setInput] = useState('')
  const search = useDebouncedValue(input.trim())
  const { commands, isSearching } = useCommands(server, input.trim(), search, handlers)
  return (
    <CommandPicker
      label={t('commands.title')}
      placeholder={t('commands.placeholder')}
      input={input}
      onInput={setInput}
      commands={commands}
      isSearching={isSearching}
      onRun={(command) => {
        onDone()
        command.run()
      }}
    />
  )
}
