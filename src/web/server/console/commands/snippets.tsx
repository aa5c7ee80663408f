import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useTranslation } from '../../../app/use-translation.ts'
import { addSnippet, removeSnippet, type Snippet, snippetsQuery } from '../../../api/console.ts'
import { asRequestError } from '../../../api/error.ts'
import { Badge } from '../../../components/badge.tsx'
import { Button, IconButton } from '../../../components/button.tsx'
import { FormError, TextField } from '../../../components/field.tsx'
import { Loaded } from '../../../components/states.tsx'
import { toastError } from '../../../components/toast.tsx'
import { useServer } from '../../server-context.tsx'

type Props = { wanted: string; draft: string; onChoose: (command: string) => void }

/** The commands with names: those of the egg, and those that the user keeps. */
export function Snippets({ wanted, draft, onChoose }: Props) {
  const { t } = useTranslation('helpers')
  const { id } = useServer()
  const query = useQuery(snippetsQuery(id))
  const [isAdding, setAdding] = useState(false)
  return (
    <section aria-label={t('snippets.title')}>
      <div className="mb-2 flex items-center justify-between gap-3">
        <h3 className="text-sm font-semibold">{t('snippets.title')}</h3>
        {!isAdding && (
          <Button variant="quiet" icon={Plus} onClick={() => setAdding(true)}>
            {t('snippets.add')}
          </Button>
        )}
      </div>
      {isAdding && <NewSnippet draft={draft} onDone={() => setAdding(false)} />}
      <Loaded query={query}>
        {(snippets) => <SnippetList snippets={matching(snippets, wanted)} onChoose={onChoose} />}
      </Loaded>
    </section>
  )
}

const matching = (snippets: readonly Snippet[], wanted: string): Snippet[] =>
  snippets.filter(({ name, command }) => `${name}\n${command}`.toLowerCase().includes(wanted))

function SnippetList({
  snippets,
  onChoose,
}: {
  snippets: readonly Snippet[]
  onChoose: (command: string) => void
}) {
  const { t } = useTranslation('helpers')
  if (snippets.length === 0) return <p className="text-sm text-muted">{t('snippets.empty')}</p>
  return (
    <ul className="divide-y divide-line rounded-card border border-line">
      {snippets.map((snippet) => (
        <li
          key={snippet.id ?? `egg ${snippet.name} ${snippet.command}`}
          className="flex items-center gap-1 pe-1"
        >
          <button
            type="button"
            onClick={() => onChoose(snippet.command)}
            className="flex min-h-11 min-w-0 flex-1 flex-wrap items-center gap-x-3 px-3 py-1.5 text-start text-sm hover:bg-raised"
          >
            <span className="font-medium wrap-anywhere">{snippet.name}</span>
            <span className="min-w-0 flex-1 font-mono text-xs wrap-anywhere text-muted">
              {snippet.command}
            </span>
            {snippet.source !== 'server' && <Badge>{t(`snippets.${snippet.source}`)}</Badge>}
          </button>
          {snippet.id !== null && <RemoveButton id={snippet.id} name={snippet.name} />}
        </li>
      ))}
    </ul>
  )
}

function RemoveButton({ id, name }: { id: number; name: string }) {
  const { t } = useTranslation('helpers')
  const { id: server } = useServer()
  const queries = useQueryClient()
  const removing = useMutation({
    mutationFn: () => removeSnippet(server, id),
    onError: (error) => toastError(error, t('snippets.failed')),
    onSettled: () => queries.invalidateQueries({ queryKey: snippetsQuery(server).queryKey }),
  })
  return (
    <IconButton
      icon={Trash2}
      label={t('snippets.remove', { name })}
      busy={removing.isPending}
      onClick={() => removing.mutate()}
    />
  )
}

function NewSnippet({ draft, onDone }: { draft: string; onDone: () => void }) {
  const { t } = useTranslation('helpers')
  const { id } = useServer()
  const queries = useQueryClient()
  const [values, setValues] = useState({ name: '', command: draft, all_servers: false })
  const adding = useMutation({
    mutationFn: () => addSnippet(id, values),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: snippetsQuery(id).queryKey })
      onDone()
    },
  })
  const errorOf = (field: string) => asRequestError(adding.error)?.fieldError(field)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    adding.mutate()
  }
  return (
    <form
      onSubmit={submit}
      className="mb-3 flex flex-col gap-3 rounded-card border border-line bg-canvas p-3"
    >
      <TextField
        label={t('snippets.name')}
        value={values.name}
        error={errorOf('name')}
        onChange={({ target }) => setValues({ ...values, name: target.value })}
        maxLength={60}
        required
      />
      <TextField
        label={t('snippets.command')}
        value={values.command}
        error={errorOf('command')}
        onChange={({ target }) => setValues({ ...values, command: target.value })}
        maxLength={2048}
        required
        spellCheck={false}
      />
      <label className="flex min-h-6 items-center gap-2 text-sm">
        <input
          type="checkbox"
          checked={values.all_servers}
          onChange={({ target }) => setValues({ ...values, all_servers: target.checked })}
          className="size-4 accent-brand"
        />
        {t('snippets.all_servers')}
      </label>
      <FormError error={adding.error} fields={['name', 'command']} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>{t('strings:action.cancel')}</Button>
        <Button type="submit" variant="primary" busy={adding.isPending}>
          {t('strings:action.save')}
        </Button>
      </div>
    </form>
  )
}
