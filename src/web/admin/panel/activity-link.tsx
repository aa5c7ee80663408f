import { History } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { buttonStyle } from '../../components/button.tsx'
import { AdminLink } from '../admin-link.tsx'
import { can } from '../levels.ts'

/** Leads to what the log has about a server, or of a user; not there for those who may not read it. */
export function ActivityLink({ search }: { search: { server_id: number } | { actor_id: number } }) {
  const { t } = useTranslation('admin')
  if (!can('activity', 'read')) return null
  return (
    <AdminLink to="activity" search={search} className={buttonStyle()}>
      <History aria-hidden className="size-4" />
      {t('nav.activity')}
    </AdminLink>
  )
}
