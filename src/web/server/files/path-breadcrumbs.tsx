import { Link } from '@tanstack/react-router'
import { ChevronRight, House } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { useServer } from '../server-context.tsx'
import { ancestorsOf } from './paths.ts'

const step = 'flex min-h-9 min-w-0 items-center rounded-control px-2 text-sm'

/** Breadcrumbs from the root to a path, with links to the folders. */
export function PathBreadcrumbs({ path }: { path: string }) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const folders = ancestorsOf(path)
  const last = folders.at(-1)
  return (
    <nav aria-label={t('trail')} className="-mt-2 min-w-0">
      <ol className="-mx-2 flex flex-wrap items-center">
        <li>
          <Link
            to="/server/$server/files"
            params={{ server: id }}
            aria-label={t('root')}
            {...(last ? {} : { 'aria-current': 'page' as const })}
            className={`${step} text-muted hover:bg-raised hover:text-ink`}
          >
            <House aria-hidden className="size-4" />
          </Link>
        </li>
        {folders.map((folder) => (
          <li key={folder.path} className="flex min-w-0 items-center">
            <ChevronRight aria-hidden className="size-4 shrink-0 text-muted rtl:rotate-180" />
            {folder === last ? (
              <span aria-current="page" className={`${step} font-medium wrap-anywhere`}>
                {folder.name}
              </span>
            ) : (
              <Link
                to="/server/$server/files"
                params={{ server: id }}
                search={{ directory: folder.path }}
                className={`${step} wrap-anywhere text-muted hover:bg-raised hover:text-ink`}
              >
                {folder.name}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}
