import { useQuery } from '@tanstack/react-query'
import { Terminal, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { site } from '../../app/site.ts'
import { buttonStyle } from '../../components/button.tsx'
import { EmptyState, Loaded } from '../../components/states.tsx'
import { eggChoices, freeAllocationChoices, userChoices } from '../form/choice-sources.ts'
import { FormSection, PickInput, SizeInput, TextInput } from '../form/fields.tsx'
import { ResourceForm } from '../form/resource-form.tsx'
import type { Allocation, Egg, Item, PageOf, Server, Setup, User } from '../resources.ts'
import { useEgg } from '../servers/egg-fields.tsx'
import { createServer, EggFields, newServer } from '../servers/new-server-page.tsx'
import { ComesFirst, StepFooter, useLoadPage } from './step-parts.tsx'
import { includesPort, usualPortsOf } from './usual-ports.ts'

/** The first server: few questions, and its console afterwards. */
export function ServerStep({ setup }: { setup: Setup }) {
  return (
    <>
      <Content setup={setup} />
      <StepFooter setup={setup} step="server" />
    </>
  )
}

function Content({ setup }: { setup: Setup }) {
  if (setup.server_id !== null) return <Made id={setup.server_id} />
  if (setup.node_id === null) return <ComesFirst step="node" />
  if (setup.steps.some(({ id, state }) => id === 'allocations' && state !== 'done'))
    return <ComesFirst step="allocations" />
  if (setup.egg_id === null) return <ComesFirst step="game" />
  return <NewServer node={setup.node_id} eggId={setup.egg_id} />
}

function NewServer({ node, eggId }: { node: number; eggId: number }) {
  const egg = useEgg(String(eggId))
  const owner = useQuery(adminQuery<PageOf<User>>('/users', { 'filter[uuid]': site.user?.uuid }))
  const free = useQuery(
    adminQuery<PageOf<Allocation>>(`/nodes/${node}/allocations`, {
      'filter[server_id]': 'none',
      per_page: 100,
    }),
  )
  return (
    <Loaded query={egg}>
      {(loadedEgg) => (
        <Loaded query={owner}>
          {(owners) => (
            <Loaded query={free}>
              {(allocations) => (
                <ServerForm
                  node={node}
                  egg={loadedEgg}
                  owner={rowsOf(owners)[0]}
                  free={rowsOf(allocations)}
                />
              )}
            </Loaded>
          )}
        </Loaded>
      )}
    </Loaded>
  )
}

type ServerFormProps = { node: number; egg: Egg; owner: User | undefined; free: readonly Allocation[] }

function ServerForm({ node, egg, owner, free }: ServerFormProps) {
  const { t } = useTranslation('admin')
  const loadPage = useLoadPage()
  const [chosenEgg, setEgg] = useState(egg)
  const ports = usualPortsOf(egg.name)?.ports ?? ''
  const address = free.find(({ port }) => includesPort(ports, port)) ?? free[0]
  return (
    <ResourceForm
      initial={{
        ...newServer,
        user: owner ? String(owner.id) : '',
        egg: String(egg.id),
        placement: 'allocation',
        'allocation.default': address ? String(address.id) : '',
      }}
      save={(values) => createServer(values, chosenEgg)}
      submit={t('servers.create')}
      saved={t('servers.created')}
      onSaved={({ attributes }) => loadPage(`/server/${attributes.identifier}`)}
    >
      <FormSection title={t('servers.identity')}>
        <TextInput name="name" isRequired />
        <PickInput name="user" label={t('strings:word.owner')} source={userChoices} isRequired />
        <PickInput
          name="allocation.default"
          label={t('strings:word.address')}
          source={freeAllocationChoices(String(node), free)}
          isRequired
        />
        <SizeInput name="limits.memory" label={t('strings:resource.memory')} isRequired />
        <SizeInput name="limits.disk" label={t('strings:resource.disk')} isRequired />
        <TextInput name="limits.cpu" type="number" isRequired />
      </FormSection>
      <FormSection title={t('servers.game')} text={t('servers.game_text')}>
        <PickInput name="egg" label={t('word.egg')} source={eggChoices} isRequired />
        <EggFields source={null} onEgg={setEgg} />
      </FormSection>
    </ResourceForm>
  )
}

/** Leads to the first server, once there is one. */
function Made({ id }: { id: number }) {
  const { t } = useTranslation('admin')
  const query = useQuery({
    ...adminQuery<Item<Server>>(`/servers/${id}`),
    select: ({ attributes }) => attributes,
  })
  return (
    <Loaded query={query}>
      {({ name, identifier }) => (
        <EmptyState icon={Terminal} title={t('setup.made', { name })} text={t('setup.made_text')}>
          <a href={`/server/${identifier}`} className={buttonStyle('primary')}>
            <Terminal aria-hidden className="size-4" />
            {t('setup.open_console')}
          </a>
          <a href={`/server/${identifier}/users`} className={buttonStyle()}>
            <UserPlus aria-hidden className="size-4" />
            {t('setup.invite')}
          </a>
        </EmptyState>
      )}
    </Loaded>
  )
}
