import { useMutation } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { type Operation, sendTryItRequest } from '../api/openapi.ts'
import { Badge } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { TextField } from '../components/field.tsx'
import { typeOf } from './schemas.ts'
import type { DocumentedOperation } from './sections.ts'

/** Longer responses are cut off, in characters. */
const maxShownLength = 40_000

type Values = Record<string, string>

/** Fills the parameters into a path; query parameters only when they have a value. */
function addressOf(path: string, parameters: Operation['parameters'], values: Values): string {
  const filledPath = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(values[`path ${name}`] ?? ''),
  )
  const query = new URLSearchParams()
  for (const { name, in: place } of parameters) {
    const value = values[`query ${name}`]
    if (place === 'query' && value) query.set(name, value)
  }
  return query.size > 0 ? `${filledPath}?${query}` : filledPath
}

/** Sends a GET request as the signed-in user and shows the response. */
export function TryIt({ operation: { path, parameters } }: { operation: DocumentedOperation }) {
  const { t } = useTranslation('docs')
  const [values, setValues] = useState<Values>({})
  const request = useMutation({ mutationFn: () => sendTryItRequest(addressOf(path, parameters, values)) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    request.mutate()
  }
  return (
    <form onSubmit={submit} className="flex min-w-0 flex-col gap-3">
      <p className="text-sm text-muted">{t('try.text')}</p>
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {parameters.map(({ name, in: place, required, schema }) => (
          <TextField
            key={`${place} ${name}`}
            label={name}
            placeholder={typeOf(schema)}
            required={required}
            value={values[`${place} ${name}`] ?? ''}
            onChange={({ target }) => setValues({ ...values, [`${place} ${name}`]: target.value })}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
        ))}
      </div>
      <Button type="submit" icon={Play} busy={request.isPending} className="self-start">
        {t('try.send')}
      </Button>
      <div aria-live="polite" className="min-w-0">
        {request.isError && <p className="text-sm text-bad">{t('try.failed')}</p>}
        {request.data && <TryItResponse {...request.data} />}
      </div>
    </form>
  )
}

function TryItResponse({ status, text }: { status: number; text: string }) {
  const { t } = useTranslation('docs')
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <p className="flex items-center gap-2 text-sm">
        {t('answer')} <Badge tone={status < 400 ? 'good' : 'bad'}>{status}</Badge>
      </p>
      <pre
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard has to reach it
        tabIndex={0}
        role="group"
        aria-label={t('answer')}
        className="max-h-96 min-w-0 overflow-auto rounded-control border border-line bg-canvas p-3 font-mono text-xs leading-5"
      >
        {formatBody(text).slice(0, maxShownLength)}
      </pre>
      {text.length > maxShownLength && <p className="text-xs text-muted">{t('try.cut')}</p>}
    </div>
  )
}

/** Formats JSON with indentation; other text stays as it is. */
function formatBody(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
