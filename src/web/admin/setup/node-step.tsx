import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminGet, adminQuery, adminSend } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Loaded } from '../../components/states.tsx'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { locationChoices } from '../form/choice-sources.ts'
import { FormSection, PickInput, SelectInput, SizeInput, TextInput, ToggleInput } from '../form/fields.tsx'
import { ResourceForm } from '../form/resource-form.tsx'
import { ConfigureCommand } from '../nodes/node-configuration.tsx'
import { newNode, nodeBody, nodeValues } from '../nodes/node-form.tsx'
import type { Item, Location, Node, PageOf, Setup } from '../resources.ts'
import { NodeWait } from './node-wait.tsx'
import { ComesFirst, StepFooter, useLoadPage } from './step-parts.tsx'

/** The first machine: its address, its daemon's configuration, and its first answer. */
export function NodeStep({ setup }: { setup: Setup }) {
  return (
    <>
      {setup.node_id === null ? <NewNode /> : <Configure setup={setup} id={setup.node_id} />}
      <StepFooter setup={setup} step="node" />
    </>
  )
}

function NewNode() {
  const { t } = useTranslation('admin')
  const loadPage = useLoadPage()
  const query = useQuery({ ...adminQuery<PageOf<Location>>('/locations', { per_page: 1 }), select: rowsOf })
  return (
    <Loaded query={query}>
      {([first]) =>
        first ? (
          <ResourceForm
            initial={{
              ...newNode,
              location_id: String(first.id),
              scheme: location.protocol === 'https:' ? 'https' : 'http',
            }}
            save={(values) => adminSend('POST', '/nodes', nodeBody(values))}
            submit={t('nodes.create')}
            saved={t('nodes.created')}
            onSaved={() => loadPage(location.pathname)}
          >
            <NodeFields />
          </ResourceForm>
        ) : (
          <ComesFirst step="location" />
        )
      }
    </Loaded>
  )
}

function NodeFields() {
  const { t } = useTranslation('admin')
  return (
    <FormSection title={t('setup.machine')} text={t('nodes.connection_text')}>
      <TextInput name="name" isRequired />
      <PickInput name="location_id" label={t('word.location')} source={locationChoices} isRequired />
      <TextInput name="fqdn" isRequired placeholder="node1.example.com" />
      <SelectInput
        name="scheme"
        choices={[
          ['https', 'HTTPS'],
          ['http', 'HTTP'],
        ]}
      />
      <TextInput name="daemonListen" type="number" isRequired />
      <TextInput name="daemonSFTP" type="number" isRequired />
      <SizeInput name="memory" label={t('setup.memory')} isRequired />
      <SizeInput name="disk" label={t('setup.disk')} isRequired />
      <ToggleInput name="behind_proxy" />
    </FormSection>
  )
}

function Configure({ setup, id }: { setup: Setup; id: number }) {
  const query = useQuery({
    ...adminQuery<Item<Node>>(`/nodes/${id}`),
    select: ({ attributes }) => attributes,
  })
  return (
    <Loaded query={query}>
      {(node) => (
        <div className="flex flex-col gap-4">
          <NodeWait node={node}>
            <ConfigureCommand node={node} remote={setup.url} />
            <StartDaemon node={node} />
          </NodeWait>
          <ChangeNode node={node} />
        </div>
      )}
    </Loaded>
  )
}

const startCommand = 'systemctl enable --now wings && systemctl restart wings'

function StartDaemon({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  return (
    <Card title={t('setup.start_daemon')} text={t('setup.start_daemon_text')}>
      <div className="flex items-start justify-between gap-2 rounded-control bg-raised py-1 pe-1 ps-3">
        <code className="min-w-0 py-1.5 text-xs wrap-anywhere">{startCommand}</code>
        <CopyButton text={startCommand} />
      </div>
      <p className="mt-3 text-sm">
        <AdminLink to={`nodes/${node.id}/configuration`} className={linkStyle}>
          {t('setup.by_file')}
        </AdminLink>
      </p>
    </Card>
  )
}

/** Corrects what the panel was told about the machine. */
function ChangeNode({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  const loadPage = useLoadPage()
  return (
    <details className="group">
      <summary className={`${linkStyle} cursor-pointer text-sm`}>{t('setup.change_node')}</summary>
      <div className="pt-3">
        <ResourceForm
          initial={nodeValues(node)}
          fetchCurrent={async () => nodeValues((await adminGet<Item<Node>>(`/nodes/${node.id}`)).attributes)}
          save={(values) => adminSend('PATCH', `/nodes/${node.id}`, nodeBody(values))}
          onSaved={() => loadPage(location.pathname)}
        >
          <NodeFields />
        </ResourceForm>
      </div>
    </details>
  )
}
