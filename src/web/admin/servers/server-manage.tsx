import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { ActionRow, ActionRows } from '../action-row.tsx'
import { AdminAction } from '../admin-action.tsx'
import { useAdminNavigate } from '../admin-link.tsx'
import type { Server } from '../resources.ts'

/** What changes a whole server: suspension, installation, deletion. */
export function ServerManage({ server }: { server: Server }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  const path = `/servers/${server.id}`
  const leave = () => navigate('servers')
  const lost = t('servers.delete_text', { name: server.name })
  return (
    <ActionRows>
      {server.suspended ? (
        <ActionRow title={t('servers.unsuspend')} text={t('servers.unsuspend_text')}>
          <AdminAction
            label={t('servers.unsuspend')}
            variant="primary"
            run={() => adminSend('POST', `${path}/unsuspend`)}
            done={t('servers.unsuspended')}
          />
        </ActionRow>
      ) : (
        <ActionRow title={t('servers.suspend')} text={t('servers.suspend_text')}>
          <AdminAction
            label={t('servers.suspend')}
            run={() => adminSend('POST', `${path}/suspend`)}
            done={t('servers.suspended')}
            confirm={{ title: t('servers.suspend'), text: t('servers.suspend_text') }}
          />
        </ActionRow>
      )}
      <ActionRow title={t('servers.reinstall')} text={t('servers.reinstall_text')}>
        <AdminAction
          label={t('servers.reinstall')}
          run={() => adminSend('POST', `${path}/reinstall`)}
          done={t('servers.reinstalling')}
          confirm={{ title: t('servers.reinstall'), text: t('servers.reinstall_text'), typed: server.name }}
        />
      </ActionRow>
      {server.status !== null && server.status !== 'suspended' && (
        <ActionRow title={t('servers.repair')} text={t('servers.repair_text')}>
          <AdminAction
            label={t('servers.repair')}
            run={() => adminSend('POST', `${path}/installation`, { status: 'installed' })}
            done={t('servers.repaired')}
          />
        </ActionRow>
      )}
      <ActionRow title={t('servers.delete')} text={lost}>
        <AdminAction
          label={t('servers.delete')}
          variant="danger"
          run={() => adminSend('DELETE', path)}
          done={t('servers.deleted')}
          onDone={leave}
          confirm={{ title: t('confirm.delete', { name: server.name }), text: lost, typed: server.name }}
        />
      </ActionRow>
      <ActionRow title={t('servers.force_delete')} text={t('servers.force_delete_text')}>
        <AdminAction
          label={t('servers.force_delete')}
          variant="danger"
          run={() => adminSend('DELETE', `${path}/force`)}
          done={t('servers.deleted')}
          onDone={leave}
          confirm={{
            title: t('confirm.delete', { name: server.name }),
            text: t('servers.force_delete_text'),
            typed: server.name,
          }}
        />
      </ActionRow>
    </ActionRows>
  )
}
