import { ChevronRight } from 'lucide-react'
import { Fragment, type ReactNode, useEffect, useRef } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { usePageTitle } from '../app/page-title.ts'
import { PageHeader } from '../components/card.tsx'
import { AdminLink } from './admin-link.tsx'

export type Crumb = { to: string; text: string }

/** A page of administrators: where it is, its title and actions, and what it shows. */
export function AdminPage({
  title,
  text,
  crumbs = [],
  actions,
  tabs,
  children,
}: {
  title: string
  text?: ReactNode
  /** The pages above, from the outermost. */
  crumbs?: readonly Crumb[]
  actions?: ReactNode
  tabs?: ReactNode
  children: ReactNode
}) {
  const { t } = useTranslation('admin')
  usePageTitle(title, t('title'))
  return (
    <>
      <nav aria-label={t('nav.breadcrumb')} className="pb-2 text-sm text-muted">
        <ol className="flex flex-wrap items-center gap-1">
          {[{ to: '', text: t('title') }, ...crumbs].map(({ to, text }) => (
            <Fragment key={to}>
              <li>
                <AdminLink to={to} className="rounded-sm hover:text-ink hover:underline">
                  {text}
                </AdminLink>
              </li>
              <li aria-hidden>
                <ChevronRight className="size-3.5 rtl:rotate-180" />
              </li>
            </Fragment>
          ))}
          <li aria-current="page" className="wrap-anywhere">
            {title}
          </li>
        </ol>
      </nav>
      <PageHeader title={title} text={text} actions={actions} />
      {tabs}
      {children}
    </>
  )
}

/** Links to the parts of a resource. */
export function PartTabs({
  label,
  base,
  part,
  parts,
}: {
  label: string
  /** Path of the resource below `/admin/`. */
  base: string
  /** The part that is open; empty for the first one. */
  part: string
  parts: readonly (readonly [part: string, text: string])[]
}) {
  const tabs = useRef<HTMLUListElement>(null)
  useEffect(() => {
    // On phones the tabs are wider than the window.
    tabs.current
      ?.querySelector('[aria-current]')
      ?.scrollIntoView({ inline: 'center', block: 'nearest', behavior: 'instant' })
  }, [part, parts.length])
  return (
    <nav aria-label={label} className="mb-4 overflow-x-auto border-b border-line">
      <ul ref={tabs} className="flex gap-1 md:flex-wrap">
        {parts.map(([name, text]) => (
          <li key={name} className="shrink-0">
            <AdminLink
              to={name === '' ? base : `${base}/${name}`}
              aria-current={name === part ? 'page' : undefined}
              className="flex min-h-10 items-center border-b-2 border-transparent px-3 text-sm font-medium whitespace-nowrap text-muted hover:text-ink aria-[current=page]:border-brand aria-[current=page]:text-brand-text"
            >
              {text}
            </AdminLink>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** Facts of a resource: names and values in two columns. */
export const Facts = ({ rows }: { rows: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="grid grid-cols-[minmax(6rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm">
    {rows.map(([name, value]) => (
      <Fragment key={name}>
        <dt className="text-muted">{name}</dt>
        <dd className="wrap-anywhere">{value}</dd>
      </Fragment>
    ))}
  </dl>
)
