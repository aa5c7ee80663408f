import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { useAdminNavigate } from '../admin-link.tsx'
import { AdminPage } from '../admin-page.tsx'
import { locationChoices } from '../form/choice-sources.ts'
import { currentOf } from '../form/current-version.ts'
import {
  FormSection,
  LongTextInput,
  PickInput,
  SelectInput,
  SizeInput,
  TextInput,
  ToggleInput,
  wide,
} from '../form/fields.tsx'
import { type FormValues, ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import type { Item, Node } from '../resources.ts'
import { numberOf } from '../servers/limit-fields.tsx'

/** Values of a new node. */
export const newNode: FormValues = {
  name: '',
  description: '',
  location_id: '',
  fqdn: '',
  scheme: 'https',
  behind_proxy: false,
  public: true,
  maintenance_mode: false,
  memory: '16384',
  memory_overallocate: '0',
  disk: '102400',
  disk_overallocate: '0',
  upload_size: '100',
  daemonListen: '8080',
  daemonSFTP: '2022',
  daemonBase: '/var/lib/pterodactyl/volumes',
  sftp_domain: '',
  query_address: '',
  country_code: '',
}

const numbers = [
  'location_id',
  'memory',
  'memory_overallocate',
  'disk',
  'disk_overallocate',
  'upload_size',
  'daemonListen',
  'daemonSFTP',
]

/** Returns what the API takes: numbers, and null for what is empty. */
export const nodeBody = (values: FormValues) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      numbers.includes(name)
        ? numberOf(value)
        : value === '' && name !== 'name' && name !== 'fqdn'
          ? null
          : value,
    ]),
  )

/** Returns the values of the form from a node. */
export const nodeValues = (node: Node): FormValues => ({
  name: node.name,
  description: node.description ?? '',
  location_id: String(node.location_id),
  fqdn: node.fqdn,
  scheme: node.scheme,
  behind_proxy: node.behind_proxy,
  public: node.public,
  maintenance_mode: node.maintenance_mode,
  memory: String(node.memory),
  memory_overallocate: String(node.memory_overallocate),
  disk: String(node.disk),
  disk_overallocate: String(node.disk_overallocate),
  upload_size: String(node.upload_size),
  daemonListen: String(node.daemon_listen),
  daemonSFTP: String(node.daemon_sftp),
  daemonBase: node.daemon_base,
  sftp_domain: node.sftp_domain ?? '',
  query_address: node.query_address ?? '',
  country_code: node.country_code ?? '',
})

/** Creates a node, and leads to its configuration. */
export function NewNodePage() {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  return (
    <AdminPage title={t('nodes.create')} crumbs={[{ to: 'nodes', text: t('nav.nodes') }]}>
      <ResourceForm
        initial={newNode}
        save={(values) => adminSend<Item<Node>>('POST', '/nodes', nodeBody(values))}
        submit={t('nodes.create')}
        saved={t('nodes.created')}
        onSaved={({ attributes }) => navigate(`nodes/${attributes.id}/configuration`)}
      >
        <NodeFields />
      </ResourceForm>
    </AdminPage>
  )
}

/** Changes a node; its daemon learns of it. */
export const NodeSettings = ({ node }: { node: Node }) => (
  <ResourceForm
    initial={nodeValues(node)}
    fetchCurrent={currentOf(`/nodes/${node.id}`, nodeValues)}
    subject={{ type: 'node', id: node.id }}
    isReadOnly={!can('nodes', 'write')}
    save={(values, version) => adminSend('PATCH', `/nodes/${node.id}`, nodeBody(values), version)}
  >
    <NodeFields />
  </ResourceForm>
)

function NodeFields() {
  const { t } = useTranslation('admin')
  return (
    <>
      <FormSection title={t('nodes.identity')}>
        <TextInput name="name" isRequired />
        <PickInput name="location_id" label={t('word.location')} source={locationChoices} isRequired />
        <LongTextInput name="description" rows={2} className={wide} />
        <ToggleInput name="public" />
        <ToggleInput name="maintenance_mode" />
      </FormSection>
      <FormSection title={t('nodes.connection')} text={t('nodes.connection_text')}>
        <TextInput name="fqdn" isRequired />
        <SelectInput
          name="scheme"
          choices={[
            ['https', 'HTTPS'],
            ['http', 'HTTP'],
          ]}
        />
        <TextInput name="daemonListen" type="number" isRequired />
        <TextInput name="daemonSFTP" type="number" isRequired />
        <TextInput name="sftp_domain" />
        <TextInput name="query_address" />
        <ToggleInput name="behind_proxy" className={wide} />
      </FormSection>
      <FormSection title={t('nodes.capacity')} text={t('nodes.capacity_text')}>
        <SizeInput name="memory" label={t('strings:resource.memory')} isRequired />
        <TextInput name="memory_overallocate" type="number" isRequired />
        <SizeInput name="disk" label={t('strings:resource.disk')} isRequired />
        <TextInput name="disk_overallocate" type="number" isRequired />
        <SizeInput name="upload_size" />
        <TextInput name="daemonBase" isMono />
        <TextInput name="country_code" />
      </FormSection>
    </>
  )
}
