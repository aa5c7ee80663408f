import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { asRequestError } from '../../api/error.ts'
import { formatDateTime } from '../../app/formats.ts'
import { Badge } from '../../components/badge.tsx'
import { Card } from '../../components/card.tsx'
import { Progress } from '../../components/meter.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { Facts } from '../admin-page.tsx'
import { freeAllocationChoices } from '../form/choice-sources.ts'
import { FormSection, PickInput } from '../form/fields.tsx'
import { ResourceForm, useForm } from '../form/resource-form.tsx'
import type { Item, Node, Server, Transfer } from '../resources.ts'
import { transferTargets } from './placement.tsx'

const pollIntervalMs = 5000

/** The transfer of a server to another node: its state, or where it may go. */
export function ServerTransfer({ server }: { server: Server }) {
  const { t } = useTranslation('admin')
  const path = `/servers/${server.id}/transfer`
  const query = useQuery({
    ...adminQuery<Item<Transfer>>(path),
    refetchInterval: ({ state }) => (isRunning(state.data?.attributes) ? pollIntervalMs : false),
    retry: false,
  })
  const hadNone = asRequestError(query.error)?.status === 404
  const transfer = hadNone ? undefined : query.data?.attributes
  return (
    <div className="flex flex-col gap-4">
      {transfer && <LatestTransfer path={path} transfer={transfer} />}
      {!isRunning(transfer) && (
        <ResourceForm
          initial={{ node: '', allocation: '' }}
          save={({ node, allocation }) =>
            adminSend('POST', path, { node: Number(node) || null, allocation: Number(allocation) || null })
          }
          submit={t('servers.start_transfer')}
          saved={t('servers.transfer_started')}
        >
          <TargetFields server={server} />
        </ResourceForm>
      )}
    </div>
  )
}

const isRunning = (transfer: Transfer | undefined) => transfer?.successful === null

function TargetFields({ server }: { server: Server }) {
  const { t } = useTranslation('admin')
  const { values, set } = useForm()
  const node = String(values.node)
  return (
    <FormSection title={t('servers.transfer_to')} text={t('servers.transfer_text')}>
      <PickInput
        name="node"
        label={t('strings:word.node')}
        source={transferTargets([server])}
        isRequired
        onPick={() => set('allocation', '')}
      />
      <PickInput
        key={node}
        name="allocation"
        label={t('word.allocation')}
        source={freeAllocationChoices(node)}
        isRequired
      />
    </FormSection>
  )
}

function LatestTransfer({ path, transfer }: { path: string; transfer: Transfer }) {
  const { t } = useTranslation('admin')
  const running = isRunning(transfer)
  const state = running ? 'running' : transfer.successful ? 'successful' : 'failed'
  const tone = running ? 'info' : transfer.successful ? 'good' : 'bad'
  return (
    <Card
      title={t('servers.latest_transfer')}
      actions={
        running && (
          <AdminAction
            label={t('servers.cancel_transfer')}
            variant="danger"
            run={() => adminSend('DELETE', path)}
            done={t('servers.transfer_cancelled')}
            confirm={{ title: t('servers.cancel_transfer'), text: t('servers.cancel_transfer_text') }}
          />
        )
      }
    >
      <div className="flex flex-col gap-4">
        {running && <Progress label={t('servers.transfer_running')} ratio={null} />}
        <Facts
          rows={[
            [
              t('strings:word.status'),
              <Badge key="state" tone={tone}>
                {t(`servers.transfer_${state}`)}
              </Badge>,
            ],
            [t('servers.from'), <NodeName key="from" id={transfer.old_node} />],
            [t('servers.to'), <NodeName key="to" id={transfer.new_node} />],
            [t('word.started'), formatDateTime(transfer.created_at)],
            [t('word.changed'), formatDateTime(transfer.updated_at)],
          ]}
        />
      </div>
    </Card>
  )
}

function NodeName({ id }: { id: number }) {
  const { data } = useQuery({ ...adminQuery<Item<Node>>(`/nodes/${id}`), staleTime: 60_000 })
  return (
    <AdminLink to={`nodes/${id}`} className={linkStyle}>
      {data?.attributes.name ?? `#${id}`}
    </AdminLink>
  )
}
