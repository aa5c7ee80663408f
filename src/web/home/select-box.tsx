import { useTranslation } from '../app/use-translation.ts'
import type { ServerSummary } from '../api/server-list.ts'
import type { Selection } from './use-selection.ts'

/** Selects a server. It is the browser's own checkbox: the list is the first page that loads. */
export function SelectBox({ server, selection }: { server: ServerSummary; selection: Selection }) {
  const { t } = useTranslation('home')
  return (
    <label className="relative z-10 grid size-9 shrink-0 cursor-pointer place-items-center">
      <input
        type="checkbox"
        aria-label={t('select.server', { server: server.name })}
        checked={selection.has(server.identifier)}
        onChange={({ target }) => selection.toggle(server.identifier, target.checked)}
        className="size-4.5 accent-(--brand)"
      />
    </label>
  )
}
