import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { Loaded } from '../../components/states.tsx'
import { useAdminNavigate } from '../admin-link.tsx'
import { AdminPage } from '../admin-page.tsx'
import {
  eggChoices,
  freeAllocationChoices,
  locationChoices,
  nodeChoices,
  userChoices,
} from '../form/choice-sources.ts'
import {
  FormSection,
  LongTextInput,
  PickInput,
  SelectInput,
  TextInput,
  ToggleInput,
  wide,
} from '../form/fields.tsx'
import { type FormValues, ResourceForm, useForm } from '../form/resource-form.tsx'
import type { Egg, Item, Server } from '../resources.ts'
import { eggValues, environmentOf, useEgg, VariableFields } from './egg-fields.tsx'
import { LimitFields, limitsBody, limitsOf, newLimits } from './limit-fields.tsx'
import { fetchServer } from './server-queries.ts'
import { ordersOf, ServerSeries, useServerSeries } from './server-series.tsx'
import { startupValues } from './startup-values.ts'
import { PlacementList } from './placement.tsx'

/** Values of a new server. */
export const newServer: FormValues = {
  name: '',
  description: '',
  external_id: '',
  count: '1',
  user: '',
  egg: '',
  docker_image: '',
  startup: '',
  placement: 'deploy',
  'deploy.locations': '',
  'deploy.port_range': '',
  'deploy.dedicated_ip': false,
  node: '',
  'allocation.default': '',
  start_on_completion: true,
  skip_scripts: false,
  ...newLimits,
}

/** Creates a server, on one page; the address can name an owner, an egg, a node, or a server from which it begins. */
export function NewServerPage() {
  const { t } = useTranslation('admin')
  const search = useSearch({ strict: false }) as Record<string, string | number>
  const { user = '', egg = '', node = '', server: source = '' } = search
  const query = useQuery({
    queryKey: ['admin', 'new-server', source],
    queryFn: () => fetchServer(Number(source)),
    enabled: source !== '',
    // The form begins with it once.
    staleTime: Infinity,
  })
  const preset = {
    ...newServer,
    user: String(user),
    egg: String(egg),
    node: String(node),
    placement: node === '' ? 'deploy' : 'allocation',
  }
  return (
    <AdminPage title={t('servers.create')} crumbs={[{ to: 'servers', text: t('nav.servers') }]}>
      {source === '' ? (
        <NewServerForm preset={preset} source={null} />
      ) : (
        <Loaded query={query}>
          {(server) => <NewServerForm preset={{ ...preset, ...copiedValues(server) }} source={server} />}
        </Loaded>
      )}
    </AdminPage>
  )
}

/** Returns what a server that is made from another begins with: everything but its name, its addresses and its files. */
const copiedValues = (server: Server): FormValues => ({
  description: server.description,
  user: String(server.user),
  ...startupValues(server),
  docker_image: server.container.image,
  ...limitsOf(server),
})

function NewServerForm({ preset, source }: { preset: FormValues; source: Server | null }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  const [chosenEgg, setEgg] = useState<Egg | null>(null)
  const series = useServerSeries((values) => createServer(values, chosenEgg))
  if (series.items.length > 0) return <ServerSeries series={series} />
  return (
    <ResourceForm
      initial={preset}
      // What is wrong with the first one stands beside its field, and then there is none of the others.
      save={async (values) => {
        const orders = ordersOf(values, t('servers.count_range'))
        return { orders, first: await createServer(orders[0] ?? values, chosenEgg) }
      }}
      submit={t('servers.create')}
      saved={t('servers.created')}
      onSaved={({ orders, first }) =>
        orders.length > 1 ? series.begin(orders, first) : navigate(`servers/${first.attributes.id}`)
      }
    >
      <FormSection
        title={t('servers.identity')}
        {...(source ? { text: t('servers.from_server', { name: source.name }) } : {})}
      >
        <TextInput name="name" isRequired />
        <PickInput name="user" label={t('strings:word.owner')} source={userChoices} isRequired />
        <LongTextInput name="description" rows={2} />
        <TextInput name="external_id" />
        <CountInput />
      </FormSection>
      <EggSection source={source} onEgg={setEgg} />
      <Placement />
      <LimitFields />
    </ResourceForm>
  )
}

/** How many servers are made. An address that is chosen is that of one. */
const CountInput = () => useForm().values.placement === 'deploy' && <TextInput name="count" type="number" />

/** Creates a server from the values of a form. */
export function createServer(values: FormValues, egg: Egg | null): Promise<Item<Server>> {
  const text = (name: string) => String(values[name] ?? '').trim()
  const isDeployed = values.placement === 'deploy'
  return adminSend('POST', '/servers', {
    name: text('name'),
    description: text('description') || null,
    external_id: text('external_id') || null,
    user: Number(text('user')) || null,
    egg: Number(text('egg')) || null,
    docker_image: text('docker_image'),
    startup: text('startup'),
    environment: egg ? environmentOf(values, egg) : {},
    skip_scripts: values.skip_scripts,
    start_on_completion: values.start_on_completion,
    ...limitsBody(values),
    ...(isDeployed
      ? {
          deploy: {
            locations: text('deploy.locations') ? [Number(text('deploy.locations'))] : [],
            dedicated_ip: values['deploy.dedicated_ip'],
            port_range: text('deploy.port_range')
              .split(/[\s,]+/)
              .filter(Boolean),
          },
        }
      : { allocation: { default: Number(text('allocation.default')) || null } }),
  })
}

function EggSection({ source, onEgg }: { source: Server | null; onEgg: (egg: Egg) => void }) {
  const { t } = useTranslation('admin')
  return (
    <FormSection title={t('servers.game')} text={t('servers.game_text')}>
      <PickInput name="egg" label={t('word.egg')} source={eggChoices} isRequired />
      <EggFields source={source} onEgg={onEgg} />
    </FormSection>
  )
}

/**
 * The fields that the chosen egg of a form has; another egg writes its values into the form, and those of `source` where
 * it is the egg of that server.
 */
export function EggFields({ source, onEgg }: { source: Server | null; onEgg: (egg: Egg) => void }) {
  const { values, fill } = useForm()
  const egg = useEgg(String(values.egg)).data
  useEffect(() => {
    if (!egg) return
    onEgg(egg)
    const own = source?.egg === egg.id ? copiedValues(source) : {}
    const begun = Object.entries(eggValues(egg)).map(([name, value]) => [name, own[name] ?? value])
    fill(Object.fromEntries(begun) as FormValues)
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- a new egg replaces the values once, not each time the form changes
  }, [egg?.id])
  if (!egg) return null
  return (
    <>
      <SelectInput name="docker_image" choices={imageChoices(egg, String(values.docker_image))} />
      <LongTextInput name="startup" isMono rows={2} className={wide} />
      <VariableFields egg={egg} />
      <ToggleInput name="start_on_completion" />
      <ToggleInput name="skip_scripts" />
    </>
  )
}

/** Lists the images of an egg, and the chosen one where the egg does not have it. */
function imageChoices(egg: Egg, chosen: string): (readonly [image: string, text: string])[] {
  const choices = Object.entries(egg.docker_images).map(
    ([name, image]) => [image, name === image ? image : `${name} (${image})`] as const,
  )
  const isOther = chosen !== '' && choices.every(([image]) => image !== chosen)
  return isOther ? [...choices, [chosen, chosen]] : choices
}

/** Where the server goes: wherever there is room, or to a chosen address. */
function Placement() {
  const { t } = useTranslation('admin')
  const { values, set } = useForm()
  const node = String(values.node)
  return (
    <FormSection title={t('servers.placement')} text={t('servers.placement_text')}>
      <SelectInput
        name="placement"
        choices={[
          ['deploy', t('servers.place_deploy')],
          ['allocation', t('servers.place_allocation')],
        ]}
        className={wide}
      />
      {values.placement === 'deploy' ? (
        <>
          <PickInput name="deploy.locations" label={t('word.location')} source={locationChoices} />
          <TextInput name="deploy.port_range" />
          <ToggleInput name="deploy.dedicated_ip" className={wide} />
          <PlacementList />
        </>
      ) : (
        <>
          <PickInput
            name="node"
            label={t('strings:word.node')}
            source={nodeChoices}
            isRequired
            onPick={() => set('allocation.default', '')}
          />
          <PickInput
            key={node}
            name="allocation.default"
            label={t('word.allocation')}
            source={freeAllocationChoices(node)}
            isRequired
          />
        </>
      )}
    </FormSection>
  )
}
