import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { asRequestError } from '../api/error.ts'
import { classNames } from './class-names.ts'

type Message = { id: number; text: string; isError: boolean }

const toastDurationMs = 6000
let messages: readonly Message[] = []
let lastId = 0
const listeners = new Set<() => void>()

function set(next: readonly Message[]): void {
  messages = next
  for (const listener of listeners) listener()
}

function show(text: string, isError: boolean): void {
  lastId += 1
  const id = lastId
  set([...messages.filter((message) => message.text !== text).slice(-3), { id, text, isError }])
  setTimeout(() => dismiss(id), isError ? toastDurationMs * 2 : toastDurationMs)
}

const dismiss = (id: number) => set(messages.filter((message) => message.id !== id))

/** Shows a message for a few seconds. */
export const toast = (text: string): void => show(text, false)

/** Shows why something failed; `fallback` when the panel gave no reason. */
export function toastError(error: unknown, fallback: string): void {
  const requestError = asRequestError(error)
  show(requestError?.message ? requestError.message : fallback, true)
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Renders the current toasts. */
export function Toasts() {
  const { t } = useTranslation()
  const shown = useSyncExternalStore(subscribe, () => messages)
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed inset-x-3 top-3 z-70 flex flex-col items-center gap-2 sm:top-auto sm:right-4 sm:bottom-4 sm:left-auto sm:items-end"
    >
      {shown.map(({ id, text, isError }) => (
        <div
          key={id}
          className="pointer-events-auto flex max-w-md items-start gap-2.5 rounded-control border border-line bg-surface px-3.5 py-2.5 text-sm shadow-xl"
        >
          {isError ? (
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
          ) : (
            <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
          )}
          <span className={classNames('min-w-0 wrap-anywhere', isError && 'text-bad')}>{text}</span>
          <button
            type="button"
            aria-label={t('action.close')}
            onClick={() => dismiss(id)}
            className="-m-1 p-1"
          >
            <X aria-hidden className="size-4 text-muted" />
          </button>
        </div>
      ))}
    </div>
  )
}
