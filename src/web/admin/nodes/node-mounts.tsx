import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { MountPaths } from '../mounts/mount-fields.tsx'
import type { Mount, Node, PageOf } from '../resources.ts'

/** The mounts that a node allows, and the lines that its daemon needs for them. */
export function NodeMounts({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  const query = useQuery(
    adminQuery<PageOf<Mount>>('/mounts', { 'filter[node_id]': node.id, sort: 'name', per_page: 500 }),
  )
  const mounts = query.data ? rowsOf(query.data) : []
  if (mounts.length === 0) return null
  const sources = [...new Set(mounts.map(({ source }) => source))].toSorted()
  const lines = ['allowed_mounts:', ...sources.map((source) => `  - ${JSON.stringify(source)}`)].join('\n')
  return (
    <Card title={t('mounts.allowed')} text={t('mounts.allowed_text')}>
      <div className="flex flex-col gap-4">
        <div className="flex items-start gap-2">
          <pre className="min-w-0 flex-1 overflow-x-auto rounded-control bg-raised p-3 text-xs">{lines}</pre>
          <CopyButton text={lines} />
        </div>
        <ul className="flex flex-col gap-2 text-sm">
          {mounts.map((mount) => (
            <li key={mount.id} className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
              <AdminLink to={`mounts/${mount.id}`} className={linkStyle}>
                {mount.name}
              </AdminLink>
              <MountPaths mount={mount} />
            </li>
          ))}
        </ul>
      </div>
    </Card>
  )
}
