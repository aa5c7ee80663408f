import { Link } from '@tanstack/react-router'
import { File, Folder, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { listFolder } from '../../api/files.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { useServer } from '../server-context.tsx'
import { kindOf } from './entries.ts'
import { joinPath } from './paths.ts'
import { type Found, searchFolders, searchLimits, type SearchProgress } from './search-folders.ts'

type SearchProps = { directory: string; text: string; onClose: () => void }

/** Searches names below a folder and shows what it finds meanwhile. Use the text as its `key`. */
export function DeepSearch({ directory, text, onClose }: SearchProps) {
  const { t } = useTranslation('files')
  const { progress, stop } = useSearch(directory, text)
  const { found, end } = progress
  return (
    <section aria-label={t('search.results')} className="rounded-card border border-line-strong bg-surface">
      <header className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2">
        <div className="min-w-0 flex-1">
          <h2 className="text-sm font-medium wrap-anywhere">{t('search.title', { text })}</h2>
          <p role="status" className="text-xs text-muted tabular-nums">
            {t('search.progress', { folders: progress.folders, found: found.length })}{' '}
            {end && t(`search.${end}`, { folders: searchLimits.maxFolders, found: searchLimits.maxFound })}
            {progress.unreadable > 0 && ` ${t('search.unreadable', { folders: progress.unreadable })}`}
          </p>
        </div>
        {end === null && <Button onClick={stop}>{t('search.stop')}</Button>}
        <IconButton icon={X} label={t('search.close')} onClick={onClose} />
      </header>
      {found.length === 0 && end !== null && (
        <p className="px-4 py-3 text-sm text-muted">{t('search.none')}</p>
      )}
      <ul className="max-h-96 divide-y divide-line overflow-y-auto empty:hidden">
        {found.map((each) => (
          <FoundRow key={joinPath(each.directory, each.entry.name)} found={each} />
        ))}
      </ul>
    </section>
  )
}

/** Runs a search until it is over, stopped, or no longer shown. */
function useSearch(directory: string, text: string) {
  const { id } = useServer()
  const abort = useRef<AbortController | null>(null)
  const [progress, setProgress] = useState<SearchProgress>({
    found: [],
    folders: 0,
    unreadable: 0,
    end: null,
  })
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    let isShown = true
    abort.current = controller
    void searchFolders({
      directory,
      text,
      signal,
      list: (path) => listFolder(id, path, signal),
      onProgress: (next) => isShown && setProgress(next),
    })
    return () => {
      isShown = false
      controller.abort()
    }
  }, [id, directory, text])
  return { progress, stop: () => abort.current?.abort() }
}

function FoundRow({ found: { directory, entry } }: { found: Found }) {
  const { id } = useServer()
  const path = joinPath(directory, entry.name)
  const kind = kindOf(entry)
  const Icon = kind === 'folder' ? Folder : File
  const style = 'rounded-control text-sm font-medium wrap-anywhere hover:underline'
  const link =
    kind === 'file' ? (
      <Link to="/server/$server/files/edit" params={{ server: id }} search={{ file: path }} className={style}>
        {entry.name}
      </Link>
    ) : (
      <Link
        to="/server/$server/files"
        params={{ server: id }}
        search={{ directory: kind === 'folder' ? path : directory }}
        className={style}
      >
        {entry.name}
      </Link>
    )
  return (
    <li className="flex min-h-12 items-center gap-2.5 px-4 py-1.5">
      <Icon
        aria-hidden
        className={`size-4.5 shrink-0 ${kind === 'folder' ? 'text-brand-text' : 'text-muted'}`}
      />
      <div className="min-w-0">
        {link}
        <p className="text-xs wrap-anywhere text-muted">
          <Link
            to="/server/$server/files"
            params={{ server: id }}
            search={{ directory }}
            className="inline-flex min-h-6 items-center hover:underline"
          >
            {directory}
          </Link>
        </p>
      </div>
    </li>
  )
}
