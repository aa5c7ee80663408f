import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../../app/use-translation.ts'
import { type ActivityEntry, actorOf } from '../../../api/activity.ts'
import { commandHistoryQuery } from '../../../api/console.ts'
import { RelativeTime } from '../../../components/relative-time.tsx'
import { Loaded } from '../../../components/states.tsx'
import { useServer } from '../../server-context.tsx'

type Props = { wanted: string; onChoose: (command: string) => void }

/** The commands that all users have sent to the server, the newest first, with who typed them. */
export function CommandHistory({ wanted, onChoose }: Props) {
  const { t } = useTranslation('helpers')
  const { id } = useServer()
  const query = useQuery(commandHistoryQuery(id))
  return (
    <section aria-label={t('history.title')}>
      <h3 className="text-sm font-semibold">{t('history.title')}</h3>
      <p className="mt-0.5 mb-2 text-xs text-muted">{t('history.text')}</p>
      <Loaded query={query}>
        {(entries) => <Commands entries={matching(entries, wanted)} onChoose={onChoose} />}
      </Loaded>
    </section>
  )
}

const commandOf = ({ properties }: ActivityEntry): string =>
  typeof properties.command === 'string' ? properties.command : ''

/** Returns the entries whose command has the text; a command that one user repeats stands there once. */
function matching(entries: readonly ActivityEntry[], wanted: string): ActivityEntry[] {
  return entries.filter((entry, index) => {
    const command = commandOf(entry)
    const before = entries[index - 1]
    const isRepeated =
      before && commandOf(before) === command && actorOf(before)?.uuid === actorOf(entry)?.uuid
    return command !== '' && !isRepeated && command.toLowerCase().includes(wanted)
  })
}

function Commands({
  entries,
  onChoose,
}: {
  entries: readonly ActivityEntry[]
  onChoose: (command: string) => void
}) {
  const { t } = useTranslation('helpers')
  if (entries.length === 0) return <p className="text-sm text-muted">{t('history.empty')}</p>
  return (
    <ul className="divide-y divide-line rounded-card border border-line">
      {entries.map((entry) => (
        <li key={entry.id}>
          <button
            type="button"
            onClick={() => onChoose(commandOf(entry))}
            className="flex min-h-11 w-full flex-wrap items-center gap-x-3 px-3 py-1.5 text-start text-sm hover:bg-raised"
          >
            <span className="min-w-0 flex-1 font-mono wrap-anywhere">{commandOf(entry)}</span>
            <span className="text-xs text-muted">
              {actorOf(entry)?.username ?? t('history.system')} · <RelativeTime at={entry.timestamp} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}
