import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useTranslation } from '../app/use-translation.ts'
import type { Pagination } from '../../http/resource.ts'
import { IconButton } from './button.tsx'

/** Pagination of a list; nothing when there is only one page. */
export function Pager({ pagination, onPage }: { pagination: Pagination; onPage: (page: number) => void }) {
  const { t } = useTranslation()
  const { current_page: page, total_pages: pages } = pagination
  if (pages <= 1) return null
  return (
    <nav aria-label={t('pages.label')} className="flex items-center justify-center gap-3 py-3 text-sm">
      <IconButton
        icon={ChevronLeft}
        label={t('pages.previous')}
        disabled={page <= 1}
        onClick={() => onPage(page - 1)}
      />
      <span className="tabular-nums">{t('pages.position', { page, pages })}</span>
      <IconButton
        icon={ChevronRight}
        label={t('pages.next')}
        disabled={page >= pages}
        onClick={() => onPage(page + 1)}
      />
    </nav>
  )
}
