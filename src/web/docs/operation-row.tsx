import { ChevronRight, Link as LinkIcon } from 'lucide-react'
import { Fragment, memo } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import type { ApiDocument } from '../api/openapi.ts'
import { classNames } from '../components/class-names.ts'
import { OperationDetails } from './operation-details.tsx'
import type { DocumentedOperation } from './sections.ts'

const methodStyles: Record<string, string> = {
  GET: 'bg-info-soft text-info',
  POST: 'bg-good-soft text-good',
  DELETE: 'bg-bad-soft text-bad',
}

/** Shows a path that can wrap after slashes; the copied text has no breaks in it. */
const BreakablePath = ({ path }: { path: string }) =>
  path.split('/').map((word, at) => (
    <Fragment key={at}>
      {at > 0 && '/'}
      {at > 0 && <wbr />}
      {word}
    </Fragment>
  ))

/** A row for one operation; its details are rendered when it is opened. */
export const OperationRow = memo(function OperationRow({
  document,
  operation,
  isOpen,
  onToggle,
}: {
  document: ApiDocument
  operation: DocumentedOperation
  isOpen: boolean
  onToggle: (id: string) => void
}) {
  const { t } = useTranslation('docs')
  const { operationId: id, method, path, summary } = operation
  return (
    <li id={id} className="min-w-0 scroll-mt-20">
      <div className="flex min-w-0 items-center gap-1 pe-2 hover:bg-raised">
        <h4 className="min-w-0 flex-1">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={isOpen ? `${id}-details` : undefined}
            onClick={() => onToggle(id)}
            className="flex min-h-12 w-full min-w-0 items-center gap-2 px-3 py-2 text-start outline-offset-[-2px]"
          >
            <ChevronRight
              aria-hidden
              className={classNames('size-4 shrink-0 text-muted transition-transform', isOpen && 'rotate-90')}
            />
            <span className="flex min-w-0 flex-1 flex-col gap-x-3 gap-y-0.5 md:flex-row md:items-center">
              <span className="flex min-w-0 items-baseline gap-2">
                <span
                  className={classNames(
                    'w-16 shrink-0 rounded-[0.25rem] py-0.5 text-center font-mono text-xs font-semibold',
                    methodStyles[method] ?? 'bg-warn-soft text-warn',
                  )}
                >
                  {method}
                </span>
                <span className="min-w-0 font-mono text-[0.8125rem] wrap-anywhere">
                  <BreakablePath path={path} />
                </span>
              </span>
              <span lang="en" className="text-sm font-normal text-muted md:ms-auto md:text-end">
                {summary}
              </span>
            </span>
          </button>
        </h4>
        <a
          href={`#${id}`}
          aria-label={t('link', { operation: summary })}
          data-tooltip={t('link_short')}
          className="hidden size-9 shrink-0 items-center justify-center rounded-control text-muted hover:bg-canvas hover:text-ink sm:flex"
        >
          <LinkIcon aria-hidden className="size-4" />
        </a>
      </div>
      {isOpen && (
        <div id={`${id}-details`} className="border-t border-line px-3 py-4 sm:px-5">
          <OperationDetails document={document} operation={operation} />
        </div>
      )}
    </li>
  )
})
