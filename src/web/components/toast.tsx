import i18next from 'i18next'
import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { asRequestError } from '../api/error.ts'
import { classNames } from './class-names.ts'

/** What a message offers to do about what it says. */
export type ToastAction = { label: string; run: () => void }
type Message = {
  id: number
  text: string
  isError: boolean
  /** Whether the text does not say what to do, because the panel gave no reason. */
  needsAdvice: boolean
  action: ToastAction | null
}

const toastDurationMs = 6000
let messages: readonly Message[] = []
let lastId = 0
const listeners = new Set<() => void>()

function set(next: readonly Message[]): void {
  messages = next
  for (const listener of listeners) listener()
}

function show(text: string, more: Partial<Omit<Message, 'id' | 'text'>> = {}): void {
  lastId += 1
  const id = lastId
  const message = { id, text, isError: false, needsAdvice: false, action: null, ...more }
  set([...messages.filter((shown) => shown.text !== text).slice(-3), message])
  setTimeout(() => dismiss(id), message.isError || message.action ? toastDurationMs * 2 : toastDurationMs)
}

const dismiss = (id: number) => set(messages.filter((message) => message.id !== id))

/** Shows a message for a few seconds; twice as long when it offers an action. */
export const toast = (text: string, action: ToastAction | null = null): void => show(text, { action })

/** Shows why something failed; `fallback` and what to do when the panel gave no reason. */
export function toastError(error: unknown, fallback: string): void {
  const requestError = asRequestError(error)
  if (requestError?.message) show(requestError.message, { isError: true })
  else if (requestError?.status === 0)
    show(`${fallback} ${i18next.t('strings:error.offline')}`, { isError: true })
  else show(fallback, { isError: true, needsAdvice: true })
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
      className="pointer-events-none fixed inset-x-3 top-3 z-70 flex flex-col items-center gap-2 sm:top-auto sm:end-4 sm:bottom-[calc(1rem+var(--bottom-bar)+var(--tray-height,0px))] sm:start-auto sm:items-end"
    >
      {shown.map(({ id, text, isError, needsAdvice, action }) => (
        <div
          key={id}
          className="pointer-events-auto flex max-w-md animate-rise items-start gap-2.5 rounded-control border border-line bg-surface px-3.5 py-2.5 text-sm shadow-xl"
        >
          {isError ? (
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
          ) : (
            <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
          )}
          <span className={classNames('min-w-0 wrap-anywhere', isError && 'text-bad')}>
            {text}
            {needsAdvice && ` ${t('failure.advice_unknown')}`}
          </span>
          {action && (
            <button
              type="button"
              onClick={() => {
                dismiss(id)
                action.run()
              }}
              className="-my-1 min-h-7 shrink-0 rounded-control px-2 font-semibold text-brand-text hover:bg-raised"
            >
              {action.label}
            </button>
          )}
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
