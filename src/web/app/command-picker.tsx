import { Search } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useTranslation } from './use-translation.ts'
import { classNames } from '../components/class-names.ts'
import type { Command } from './commands.ts'

type PickerProps = {
  label: string
  placeholder: string
  input: string
  onInput: (input: string) => void
  commands: readonly Command[]
  isSearching: boolean
  onRun: (command: Command) => void
}

/** An input, and the commands that match it. Arrow keys select, Enter runs. */
export function CommandPicker({ input, onInput, commands, isSearching, onRun, ...texts }: PickerProps) {
  const { t } = useTranslation('server')
  const [activeIndex, setActiveIndex] = useState(0)
  const listId = useId()
  const active = commands[Math.min(activeIndex, commands.length - 1)]
  const onKeyDown = (event: KeyboardEvent) => {
    const next = { ArrowDown: activeIndex + 1, ArrowUp: activeIndex - 1, Home: 0, End: commands.length - 1 }[
      event.key
    ]
    if (event.key === 'Enter') {
      if (active) onRun(active)
    } else if (next !== undefined) setActiveIndex((next + commands.length) % Math.max(1, commands.length))
    else return
    event.preventDefault()
  }
  return (
    <>
      <div className="flex items-center gap-2 border-b border-line px-4">
        <Search aria-hidden className="size-4 shrink-0 text-muted" />
        <input
          type="text"
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={active ? `${listId}-${active.id}` : undefined}
          aria-label={texts.label}
          placeholder={texts.placeholder}
          value={input}
          onChange={({ target }) => {
            onInput(target.value)
            setActiveIndex(0)
          }}
          onKeyDown={onKeyDown}
          autoComplete="off"
          spellCheck={false}
          className="min-h-12 min-w-0 flex-1 bg-transparent text-sm outline-none placeholder:text-muted"
        />
      </div>
      <p role="status" className="sr-only">
        {isSearching ? t('strings:loading') : t('commands.count', { count: commands.length })}
      </p>
      <CommandOptions id={listId} label={texts.label} commands={commands} active={active} onRun={onRun} />
      {commands.length === 0 && (
        <p className="px-4 py-8 text-center text-sm text-muted">
          {isSearching ? t('strings:loading') : t('commands.none')}
        </p>
      )}
    </>
  )
}

function CommandOptions({
  id,
  label,
  commands,
  active,
  onRun,
}: {
  id: string
  label: string
  commands: readonly Command[]
  active: Command | undefined
  onRun: (command: Command) => void
}) {
  const { t } = useTranslation('server')
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [active?.id])
  return (
    <div ref={list} id={id} role="listbox" aria-label={label} className="min-h-0 overflow-y-auto p-1.5">
      {[...Map.groupBy(commands, ({ group }) => group)].map(([group, members]) => (
        <div key={group} role="group" aria-label={t(`commands.group_${group}`)}>
          <p aria-hidden className="px-2.5 pt-2 pb-1 text-xs font-medium text-muted">
            {t(`commands.group_${group}`)}
          </p>
          {members.map((command) => (
            <CommandOption
              key={command.id}
              id={`${id}-${command.id}`}
              command={command}
              isActive={command === active}
              onRun={() => onRun(command)}
            />
          ))}
        </div>
      ))}
    </div>
  )
}

function CommandOption({
  id,
  command: { icon: Icon, text, hint },
  isActive,
  onRun,
}: {
  id: string
  command: Command
  isActive: boolean
  onRun: () => void
}) {
  return (
    // The keyboard stays in the line above, which chooses by arrows.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- arrows in the line above choose
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      onClick={onRun}
      className={classNames(
        'flex min-h-10 cursor-pointer items-center gap-3 rounded-control px-2.5 text-sm',
        isActive ? 'bg-brand-soft text-brand-text' : 'hover:bg-raised',
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0 flex-1 truncate">{text}</span>
      {hint && <span className="max-w-[45%] truncate text-xs text-muted">{hint}</span>}
    </div>
  )
}
