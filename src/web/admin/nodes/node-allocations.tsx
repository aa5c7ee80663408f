import { Network, Trash2 } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { addressOfAllocation } from '../addresses.ts'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { FormSection, TextInput } from '../form/fields.tsx'
import { type FormValues, ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import { AdminList } from '../list/admin-list.tsx'
import type { Selection } from '../list/selection.ts'
import type { Allocation, Node } from '../resources.ts'
import { AllocationActions } from './allocation-actions.tsx'
import { splitPorts } from './allocation-count.ts'
import { AllocationPreview } from './allocation-preview.tsx'

/** The allocations of a node: those there are, and new ones by ranges. */
export function NodeAllocations({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  const path = `/nodes/${node.id}/allocations`
  const isWriter = can('allocations', 'write')
  return (
    <div className="flex flex-col gap-4">
      {isWriter && <NewAllocations nodeId={node.id} />}
      <div>
        <AdminList<Allocation>
          isPart
          title={t('nodes.part_allocations')}
          icon={Network}
          path={path}
          query={{ include: 'server' }}
          searchBy="filter[port]"
          searchLabel={t('nodes.search_port')}
          filters={[{ name: 'server_id', label: t('nodes.use'), choices: [['none', t('nodes.free')]] }]}
          keyOf={({ id }) => id}
          empty={t('nodes.no_allocations')}
          columns={[
            {
              name: 'address',
              label: t('strings:word.address'),
              cell: ({ ip, port }) => (
                <code className="private">{addressOfAllocation({ ip, port, alias: null })}</code>
              ),
            },
            { name: 'alias', label: t('field.alias'), cell: ({ alias }) => alias ?? '–' },
            {
              name: 'server',
              label: t('strings:word.server'),
              cell: (allocation) => <Use allocation={allocation} />,
            },
            { name: 'notes', label: t('nodes.notes'), isOptional: true, cell: ({ notes }) => notes ?? '–' },
          ]}
          {...(isWriter
            ? {
                chosenActions: (selection: Selection<Allocation>) => (
                  <AllocationActions path={path} selection={selection} />
                ),
                rowActions: (allocation: Allocation) => <Delete path={path} allocation={allocation} />,
              }
            : {})}
        />
      </div>
    </div>
  )
}

function Use({ allocation: { assigned, relationships } }: { allocation: Allocation }) {
  const { t } = useTranslation('admin')
  const server = relationships?.server?.attributes
  if (server)
    return (
      <AdminLink to={`servers/${server.id}`} className={linkStyle}>
        {server.name}
      </AdminLink>
    )
  return <span className="text-muted">{t(assigned ? 'nodes.used' : 'nodes.free')}</span>
}

function Delete({ path, allocation }: { path: string; allocation: Allocation }) {
  const { t } = useTranslation('admin')
  const address = addressOfAllocation(allocation)
  return (
    <AdminAction
      label={t('servers.remove_allocation', { address })}
      icon={Trash2}
      isCompact
      disabled={allocation.assigned}
      run={() => adminSend('DELETE', `${path}/${allocation.id}`)}
    />
  )
}

/** Adds allocations to a node: each of the addresses with each of the ports. */
export const addAllocations = (nodeId: number, { ip, ports, alias }: FormValues) =>
  adminSend('POST', `/nodes/${nodeId}/allocations`, {
    ip,
    alias: alias || null,
    ports: splitPorts(String(ports)),
  })

function NewAllocations({ nodeId }: { nodeId: number }) {
  const { t } = useTranslation('admin')
  return (
    <ResourceForm
      initial={{ ip: '', ports: '', alias: '' }}
      submit={t('nodes.add_allocations')}
      saved={t('nodes.allocations_added')}
      save={(values) => addAllocations(nodeId, values)}
    >
      <FormSection title={t('nodes.add_allocations')} text={t('nodes.add_allocations_text')}>
        <TextInput name="ip" isRequired isMono placeholder="203.0.113.7" />
        <TextInput name="ports" isRequired isMono placeholder="25565-25600, 27015" />
        <TextInput name="alias" />
        <AllocationPreview />
      </FormSection>
    </ResourceForm>
  )
}
