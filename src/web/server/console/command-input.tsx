import { ChevronRight, CornerDownLeft, ListPlus } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, lazy, Suspense, useId, useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { loadTexts } from '../../app/texts.ts'
import { IconButton } from '../../components/button.tsx'
import { useLive, useServer } from '../server-context.tsx'
import { storeCommand, readCommands } from './command-history.ts'

const CommandsDialog = lazy(async () => {
  const [dialog] = await Promise.all([import('./commands/commands-dialog.tsx'), loadTexts('helpers')])
  return dialog
})

/** The command input, with earlier commands on the arrow keys. */
export function CommandInput() {
  const { t } = useTranslation('console')
  const { id, socket } = useServer()
  const [text, setText] = useState('')
  const history = useHistory(id, text, setText)
  const reason = useDisabledReason()
  const describedBy = useId()
  const field = useRef<HTMLInputElement>(null)
  const isChosen = useRef(false)
  const send = (event: FormEvent) => {
    event.preventDefault()
    const command = text.trim()
    if (reason !== null || command === '' || !socket.send('send command', command)) return
    storeCommand(id, command)
    history.reset()
    setText('')
  }
  return (
    <form onSubmit={send} className="flex items-center gap-1 border-t border-line bg-canvas pe-1.5 ps-3">
      <ChevronRight aria-hidden className="size-4 shrink-0 text-muted rtl:rotate-180" />
      <input
        ref={field}
        aria-label={t('command')}
        aria-describedby={reason ? describedBy : undefined}
        placeholder={reason ?? t('command')}
        value={text}
        // Read-only instead of disabled, so that the field keeps the focus.
        readOnly={reason !== null}
        aria-disabled={reason !== null}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={history.onKeyDown}
        maxLength={2048}
        autoComplete="off"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        enterKeyHint="send"
        className="min-h-12 min-w-0 flex-1 bg-transparent px-1 font-mono text-sm outline-offset-[-2px] placeholder:font-sans placeholder:text-muted read-only:cursor-not-allowed"
      />
      {reason && (
        <span id={describedBy} className="sr-only">
          {reason}
        </span>
      )}
      <span
        className="contents"
        // A dialog that has closed gives the focus back to its button.
        onFocusCapture={() => {
          if (isChosen.current) field.current?.focus()
          isChosen.current = false
        }}
      >
        <CommandChoice
          draft={text}
          onChoose={(command) => {
            setText(command)
            isChosen.current = true
          }}
        />
      </span>
      <IconButton
        type="submit"
        icon={CornerDownLeft}
        label={t('send')}
        disabled={reason !== null || text.trim() === ''}
        // On a phone the reason needs its place.
        className={reason === null ? '' : 'max-sm:hidden'}
      />
    </form>
  )
}

/** Opens the commands that the console offers, for those who may send some. */
function CommandChoice({ draft, onChoose }: { draft: string; onChoose: (command: string) => void }) {
  const { t } = useTranslation('console')
  const { can } = useServer()
  const [isOpen, setOpen] = useState(false)
  if (!can('control.console')) return null
  const close = () => setOpen(false)
  return (
    <>
      <IconButton icon={ListPlus} label={t('commands')} onClick={() => setOpen(true)} />
      {isOpen && (
        <Suspense>
          <CommandsDialog
            draft={draft}
            onClose={close}
            onChoose={(command) => {
              close()
              onChoose(command)
            }}
          />
        </Suspense>
      )}
    </>
  )
}

/** Returns why no command can be sent; null when it can. */
function useDisabledReason(): string | null {
  const { t } = useTranslation('console')
  const { can } = useServer()
  const { connection, state } = useLive()
  if (!can('control.console')) return t('closed.permission')
  if (connection !== 'open') return t('closed.connection')
  return state === 'offline' || state === null ? t('closed.offline') : null
}

/** Steps through earlier commands with the arrow keys; after the newest comes the current draft. */
function useHistory(server: string, text: string, setText: (text: string) => void) {
  const [position, setPosition] = useState<{ index: number; draft: string } | null>(null)
  const go = (step: -1 | 1) => {
    const commands = readCommands(server)
    const { index, draft } = position ?? { index: commands.length, draft: text }
    const next = index + step
    if (next < 0 || next > commands.length) return
    setText(commands[next] ?? draft)
    setPosition(next === commands.length ? null : { index: next, draft })
  }
  return {
    reset: () => setPosition(null),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
      event.preventDefault()
      go(event.key === 'ArrowUp' ? -1 : 1)
    },
  }
}
