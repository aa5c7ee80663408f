import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { ActionRow, ActionRows } from '../action-row.tsx'
import { AdminAction } from '../admin-action.tsx'
import { useAdminNavigate } from '../admin-link.tsx'
import { can } from '../levels.ts'
import type { Item, User } from '../resources.ts'
import { ActForUser } from './act-for-user.tsx'

/** What changes how a user signs in, and their deletion. */
export function UserManage({ user }: { user: User }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  const path = `/users/${user.id}`
  if (user.root_admin && !can('administrators', 'write')) return <p>{t('users.above')}</p>
  return (
    <ActionRows>
      <ActForUser user={user} path={path} />
      <VerifyEmail path={path} />
      {user.meta?.sign_in_suspended_at ? (
        <ActionRow title={t('users.unsuspend')} text={t('users.unsuspend_text')}>
          <AdminAction
            label={t('users.unsuspend')}
            run={() => adminSend('POST', `${path}/unsuspend`)}
            done={t('users.unsuspended')}
          />
        </ActionRow>
      ) : (
        <ActionRow title={t('users.suspend')} text={t('users.suspend_text')}>
          <AdminAction
            label={t('users.suspend')}
            run={() => adminSend('POST', `${path}/suspend`)}
            done={t('users.suspended')}
            confirm={{ title: t('users.suspend'), text: t('users.suspend_text') }}
          />
        </ActionRow>
      )}
      <ActionRow title={t('users.reset_password')} text={t('users.reset_password_text')}>
        <AdminAction
          label={t('users.reset_password')}
          run={() => adminSend('POST', `${path}/reset-password`)}
          done={t('users.password_reset')}
          confirm={{ title: t('users.reset_password'), text: t('users.reset_password_text') }}
        />
      </ActionRow>
      {user['2fa'] && (
        <ActionRow title={t('users.reset_two_factor')} text={t('users.reset_two_factor_text')}>
          <AdminAction
            label={t('users.reset_two_factor')}
            run={() => adminSend('POST', `${path}/reset-two-factor`)}
            done={t('users.two_factor_reset')}
            confirm={{
              title: t('users.reset_two_factor'),
              text: t('users.reset_two_factor_text'),
              typed: user.username,
            }}
          />
        </ActionRow>
      )}
      <ActionRow title={t('users.delete')} text={t('users.delete_text')}>
        <AdminAction
          label={t('users.delete')}
          variant="danger"
          run={() => adminSend('DELETE', path)}
          done={t('users.deleted')}
          onDone={() => navigate('users')}
          confirm={{
            title: t('confirm.delete', { name: user.username }),
            text: t('users.delete_text'),
            typed: user.username,
          }}
        />
      </ActionRow>
    </ActionRows>
  )
}

/** Verifies the address of a user who gets no mail. */
function VerifyEmail({ path }: { path: string }) {
  const { t } = useTranslation('admin')
  const { data } = useQuery(adminQuery<Item<{ status: string }>>(`${path}/email`))
  if (!data || data.attributes.status === 'verified') return null
  return (
    <ActionRow title={t('users.verify')} text={t('users.verify_text')}>
      <AdminAction
        label={t('users.verify')}
        run={() => adminSend('POST', `${path}/email/verify`)}
        done={t('users.verified')}
      />
    </ActionRow>
  )
}
