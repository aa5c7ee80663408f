import { useTranslation } from '../../app/use-translation.ts'
import { rememberPage } from '../../acting/page-before.ts'
import { adminSend } from '../../api/admin.ts'
import { site } from '../../app/site.ts'
import { ActionRow } from '../action-row.tsx'
import { AdminAction } from '../admin-action.tsx'
import { can } from '../levels.ts'
import type { User } from '../resources.ts'

/** Opens the panel as the user, where the levels of the administrator allow it. */
export function ActForUser({ user, path }: { user: User; path: string }) {
  const { t } = useTranslation('admin')
  if (!canActFor(user)) return null
  return (
    <ActionRow title={t('users.act')} text={t('users.act_text')}>
      <AdminAction
        label={t('users.act')}
        run={() => actFor(path)}
        confirm={{
          title: t('users.act_as', { name: user.username }),
          text: t('users.act_text'),
          isDanger: false,
        }}
      />
    </ActionRow>
  )
}

/** Starts the session and leaves the page, whose queries the panel would refuse now: it stays busy until then. */
async function actFor(path: string): Promise<never> {
  await adminSend('POST', `${path}/act`)
  rememberPage()
  location.assign('/')
  return new Promise(() => undefined)
}

/** Whether the panel would allow it; it checks again. */
function canActFor({ uuid, root_admin: isRoot, meta, relationships }: User): boolean {
  if (!can('users', 'write') || !can('servers', 'write')) return false
  if (uuid === site.user?.uuid || meta?.sign_in_suspended_at) return false
  if (site.user?.root_admin) return true
  if (isRoot) return false
  if (meta?.role_id === undefined) return true
  const levels = relationships?.role?.attributes?.acl
  if (!levels || !can('administrators', 'write')) return false
  return Object.entries(levels).every(([resource, level]) => ((site.acl?.[resource] ?? 0) & level) === level)
}
