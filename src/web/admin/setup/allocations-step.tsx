import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery } from '../../api/admin.ts'
import { formatNumber } from '../../app/formats.ts'
import { Card } from '../../components/card.tsx'
import { classNames } from '../../components/class-names.ts'
import { Loaded } from '../../components/states.tsx'
import { addressOfAllocation } from '../addresses.ts'
import { AdminLink, linkStyle, useAdminNavigate } from '../admin-link.tsx'
import { fetchEggs } from '../form/choice-sources.ts'
import { FormSection, TextInput, wide } from '../form/fields.tsx'
import { ResourceForm, useForm } from '../form/resource-form.tsx'
import { splitPorts } from '../nodes/allocation-count.ts'
import { AllocationPreview } from '../nodes/allocation-preview.tsx'
import { addAllocations } from '../nodes/node-allocations.tsx'
import type { Allocation, Item, Node, NodeDoctor, PageOf, Setup } from '../resources.ts'
import { ComesFirst, StepFooter } from './step-parts.tsx'
import { pathAfter } from './steps.ts'
import { type UsualPorts, usualPortsOf, usualPortsOfAll } from './usual-ports.ts'

/** The addresses and ports of the node's servers. */
export function AllocationsStep({ setup }: { setup: Setup }) {
  return (
    <>
      {setup.node_id === null ? (
        <ComesFirst step="node" />
      ) : (
        <NodeAddresses setup={setup} id={setup.node_id} />
      )}
      <StepFooter setup={setup} step="allocations" />
    </>
  )
}

function NodeAddresses({ setup, id }: { setup: Setup; id: number }) {
  const { t } = useTranslation('admin')
  const query = useQuery(adminQuery<PageOf<Allocation>>(`/nodes/${id}/allocations`, { per_page: 10 }))
  return (
    <Loaded query={query}>
      {({ data, meta: { pagination } }) =>
        pagination.total === 0 ? (
          <NewAddresses setup={setup} id={id} />
        ) : (
          <Card>
            <p className="flex items-start gap-2 font-medium">
              <CircleCheck aria-hidden className="mt-0.5 size-5 shrink-0 text-good" />
              {t('setup.addresses', { total: formatNumber(pagination.total) })}
            </p>
            <p className="mt-1 font-mono text-xs text-muted wrap-anywhere">
              {data.map(({ attributes }) => addressOfAllocation(attributes)).join(', ')}
              {pagination.total > data.length && ' …'}
            </p>
            <p className="mt-3 text-sm">
              <AdminLink to={`nodes/${id}/allocations`} className={linkStyle}>
                {t('setup.all_addresses')}
              </AdminLink>
            </p>
          </Card>
        )
      }
    </Loaded>
  )
}

/** Whether a host is an address itself. */
const isAddress = (host: string) => /^\d{1,3}(\.\d{1,3}){3}$/.test(host) || host.includes(':')

/** A form with the address of the node, and the ports of the games that there are eggs for. */
function NewAddresses({ setup, id }: { setup: Setup; id: number }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  const suggestion = useQuery({
    queryKey: ['admin', 'suggested-addresses', id],
    queryFn: async ({ client, signal }) => {
      const node = await client.fetchQuery(adminQuery<Item<Node>>(`/nodes/${id}`))
      const eggs = await fetchEggs(signal)
      const { fqdn } = node.attributes
      if (isAddress(fqdn)) return { ip: fqdn.replace(/^\[(.*)\]$/, '$1'), eggs }
      const doctor = await client.fetchQuery(adminQuery<Item<NodeDoctor>>(`/nodes/${id}/doctor`))
      return { ip: doctor.attributes.addresses[0] ?? '', eggs }
    },
    staleTime: Infinity,
  })
  return (
    <Loaded query={suggestion}>
      {({ ip, eggs }) => {
        const games = usualPortsOfAll(eggs.map(({ egg }) => egg.name))
        const chosen = eggs.find(({ egg }) => egg.id === setup.egg_id)?.egg
        return (
          <ResourceForm
            initial={{ ip, ports: (chosen && usualPortsOf(chosen.name)?.ports) ?? '', alias: '' }}
            submit={t('nodes.add_allocations')}
            saved={t('nodes.allocations_added')}
            save={(values) => addAllocations(id, values)}
            onSaved={() => navigate(pathAfter(setup, 'allocations'))}
          >
            <FormSection title={t('nodes.add_allocations')} text={t('setup.addresses_text')}>
              <GamePorts games={games} />
              <TextInput name="ip" isRequired isMono placeholder="203.0.113.7" />
              <TextInput name="ports" isRequired isMono placeholder="25565-25574" />
              <TextInput name="alias" className={wide} />
              <AllocationPreview />
            </FormSection>
          </ResourceForm>
        )
      }}
    </Loaded>
  )
}

/** Buttons that write the usual ports of games into the form, and take them out again. */
function GamePorts({ games }: { games: readonly UsualPorts[] }) {
  const { t } = useTranslation('admin')
  const { values, set } = useForm()
  const parts = splitPorts(String(values.ports ?? ''))
  return (
    <fieldset className={wide}>
      <legend className="mb-1.5 text-sm font-medium">{t('setup.usual_ports')}</legend>
      <div className="flex flex-wrap gap-2">
        {games.map(({ game, ports }) => {
          const own = ports.split(', ')
          const isChosen = own.every((part) => parts.includes(part))
          const others = parts.filter((part) => !own.includes(part))
          return (
            <button
              key={game}
              type="button"
              aria-pressed={isChosen}
              onClick={() => set('ports', (isChosen ? others : [...others, ...own]).join(', '))}
              className={classNames(
                'flex min-h-10 flex-col items-start justify-center rounded-control border px-3 py-1 text-start text-sm',
                isChosen
                  ? 'border-brand bg-brand-soft text-brand-text'
                  : 'border-line-strong hover:bg-raised',
              )}
            >
              <span className="font-medium">{game}</span>
              <span className="font-mono text-xs">{ports}</span>
            </button>
          )
        })}
      </div>
    </fieldset>
  )
}
