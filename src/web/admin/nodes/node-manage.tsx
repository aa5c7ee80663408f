import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { ActionRow, ActionRows } from '../action-row.tsx'
import { AdminAction } from '../admin-action.tsx'
import { useAdminNavigate } from '../admin-link.tsx'
import type { Node } from '../resources.ts'

/** What changes a whole node: maintenance, its token, deletion. */
export function NodeManage({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  const path = `/nodes/${node.id}`
  const maintenance = t(node.maintenance_mode ? 'nodes.end_maintenance' : 'nodes.start_maintenance')
  return (
    <ActionRows>
      <ActionRow title={maintenance} text={t('nodes.maintenance_text')}>
        <AdminAction
          label={maintenance}
          run={() => adminSend('PATCH', path, { maintenance_mode: !node.maintenance_mode })}
          done={t('form.saved')}
        />
      </ActionRow>
      <ActionRow title={t('nodes.reset_token')} text={t('nodes.reset_token_text')}>
        <AdminAction
          label={t('nodes.reset_token')}
          run={() => adminSend('PATCH', path, { reset_secret: true, grace: true })}
          done={t('nodes.token_reset')}
          onDone={() => navigate(`nodes/${node.id}/configuration`)}
          confirm={{ title: t('nodes.reset_token'), text: t('nodes.reset_token_text') }}
        />
      </ActionRow>
      <ActionRow title={t('nodes.delete')} text={t('nodes.delete_text')}>
        <AdminAction
          label={t('nodes.delete')}
          variant="danger"
          run={() => adminSend('DELETE', path)}
          done={t('nodes.deleted')}
          onDone={() => navigate('nodes')}
          confirm={{
            title: t('confirm.delete', { name: node.name }),
            text: t('nodes.delete_text'),
            typed: node.name,
          }}
        />
      </ActionRow>
    </ActionRows>
  )
}
