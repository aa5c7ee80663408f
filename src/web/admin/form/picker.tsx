import { type QueryKey, useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { useDebouncedValue } from '../../app/use-debounced-value.ts'
import { IconButton } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { controlStyle, Field } from '../../components/field.tsx'

/** A resource that can be chosen: its id, its name, what tells it from others of that name, and a picture. */
export type Choice = { id: string; text: string; hint?: string; icon?: ReactNode }

/** Where choices come from: found by a text, or by their id. */
export type ChoiceSource = {
  key: QueryKey
  find: (text: string, signal: AbortSignal) => Promise<Choice[]>
  show: (id: string, signal: AbortSignal) => Promise<Choice>
}

type PickerProps = {
  label: string
  source: ChoiceSource
  /** Id of the choice; empty when nothing is chosen. */
  value: string
  onChange: (id: string) => void
  hint?: ReactNode
  error?: string | undefined
  placeholder?: string
  hideLabel?: boolean
  isRequired?: boolean
  className?: string
}

/** Returns the name of a choice: nothing while it is loading, and the id of one that is not found. */
export function useChoiceName(source: ChoiceSource, id: string): string {
  const { data, isError } = useQuery({
    queryKey: ['admin', 'choice', ...source.key, id],
    queryFn: ({ signal }) => source.show(id, signal),
    enabled: id !== '',
    staleTime: 60_000,
  })
  return data?.text ?? (isError ? `#${id}` : '')
}

/** Chooses one resource by typing part of its name; the panel searches. Arrow keys choose, Enter takes, Escape closes. */
export function Picker({ source, value, onChange, placeholder, isRequired, ...field }: PickerProps) {
  const { t } = useTranslation('admin')
  const [input, setInput] = useState<string | null>(null)
  const [active, setActive] = useState(0)
  const listId = useId()
  const text = useDebouncedValue(input ?? '')
  const isOpen = input !== null
  const shown = useChoiceName(source, value)
  const found = useQuery({
    queryKey: ['admin', 'choices', ...source.key, text],
    queryFn: ({ signal }) => source.find(text.trim(), signal),
    enabled: isOpen,
    placeholderData: (before) => before,
  })
  const choices = found.data ?? []
  const take = (choice: Choice | undefined) => {
    if (choice) onChange(choice.id)
    setInput(null)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const last = Math.max(0, choices.length - 1)
    const next = { ArrowDown: Math.min(last, active + 1), ArrowUp: Math.max(0, active - 1) }[event.key]
    if (next !== undefined) {
      if (isOpen) setActive(next)
      else setInput('')
    } else if (event.key === 'Enter' && isOpen) take(choices[active])
    else if (event.key === 'Escape' && isOpen) setInput(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const isLoading = value !== '' && shown === ''
  const emptyText = isLoading || (isOpen && shown !== '') ? shown : (placeholder ?? t('picker.search'))
  return (
    <Field {...field}>
      {(control) => (
        <div className="relative">
          <input
            {...control}
            role="combobox"
            aria-expanded={isOpen}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={isOpen && choices[active] ? `${listId}-${active}` : undefined}
            aria-required={isRequired}
            placeholder={emptyText}
            value={input ?? shown}
            onChange={({ target }) => {
              setInput(target.value)
              setActive(0)
            }}
            onClick={() => setInput(input ?? '')}
            onKeyDown={onKeyDown}
            onBlur={() => setInput(null)}
            autoComplete="off"
            spellCheck={false}
            className={classNames(controlStyle, value !== '' && 'pe-9')}
          />
          {value !== '' && !isRequired && (
            <IconButton
              icon={X}
              label={t('picker.clear', { name: field.label })}
              className="absolute top-0 end-0"
              onClick={() => onChange('')}
            />
          )}
          {isOpen && (
            <Options
              id={listId}
              label={field.label}
              choices={choices}
              active={active}
              none={found.isFetching ? t('strings:loading') : t('picker.none')}
              onTake={take}
            />
          )}
        </div>
      )}
    </Field>
  )
}

/** The choices that were found, one of which the arrow keys have chosen. */
const Options = ({
  id,
  label,
  choices,
  active,
  none,
  onTake,
}: {
  id: string
  label: string
  choices: readonly Choice[]
  active: number
  /** Shown when there is no choice. */
  none: string
  onTake: (choice: Choice) => void
}) => (
  <div
    id={id}
    // The last field of a dialog has its list below what shows of the dialog.
    ref={(list) => list?.scrollIntoView({ block: 'nearest' })}
    role="listbox"
    aria-label={label}
    className="absolute z-20 mt-1 max-h-72 w-max max-w-[min(24rem,80vw)] min-w-full overflow-y-auto rounded-control border border-line bg-surface p-1 shadow-xl"
  >
    {choices.map((choice, index) => (
      // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the field above has the focus and the keys
      <div
        key={choice.id}
        id={`${id}-${index}`}
        role="option"
        aria-selected={index === active}
        // Before the field loses the focus, which closes the list.
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => onTake(choice)}
        className={classNames(
          'flex cursor-pointer items-center gap-2.5 rounded-[0.375rem] px-2.5 py-1.5 text-sm',
          index === active ? 'bg-brand-soft text-brand-text' : 'hover:bg-raised',
        )}
      >
        {choice.icon}
        <span className="flex min-w-0 flex-col">
          <span className="wrap-anywhere">{choice.text}</span>
          {choice.hint && (
            <span className={classNames('text-xs', index !== active && 'text-muted')}>{choice.hint}</span>
          )}
        </span>
      </div>
    ))}
    {choices.length === 0 && (
      // oxlint-disable-next-line jsx-a11y/interactive-supports-focus -- it says that there is nothing to choose
      <div role="option" aria-selected={false} aria-disabled className="px-2.5 py-1.5 text-sm text-muted">
        {none}
      </div>
    )}
  </div>
)
