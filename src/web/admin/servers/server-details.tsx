import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { formatDateTime } from '../../app/formats.ts'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { addressOfAllocation } from '../addresses.ts'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { Facts } from '../admin-page.tsx'
import { userChoices } from '../form/choice-sources.ts'
import { FormSection, LongTextInput, PickInput, TextInput } from '../form/fields.tsx'
import { type FormValues, ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import type { Server } from '../resources.ts'
import { currentServer } from './server-queries.ts'
import { primaryAllocation } from './servers-page.tsx'

const valuesOf = (server: Server): FormValues => ({
  name: server.name,
  description: server.description,
  external_id: server.external_id ?? '',
  user: String(server.user),
})

/** Name, owner and ids of a server, and what it belongs to. */
export function ServerDetails({ server }: { server: Server }) {
  const { t } = useTranslation('admin')
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_24rem]">
      <ResourceForm
        initial={valuesOf(server)}
        fetchCurrent={currentServer(server.id, valuesOf)}
        subject={{ type: 'server', id: server.id }}
        isReadOnly={!can('servers', 'write')}
        save={({ name, description, external_id: externalId, user }, version) =>
          adminSend(
            'PATCH',
            `/servers/${server.id}/details`,
            { name, description, external_id: externalId || null, user: Number(user) },
            version,
          )
        }
      >
        <FormSection title={t('servers.part_details')}>
          <TextInput name="name" isRequired />
          <PickInput name="user" label={t('strings:word.owner')} source={userChoices} isRequired />
          <LongTextInput name="description" />
          <TextInput name="external_id" />
        </FormSection>
      </ResourceForm>
      <ServerFacts server={server} />
    </div>
  )
}

function ServerFacts({ server }: { server: Server }) {
  const { t } = useTranslation('admin')
  const { relationships } = server
  const primary = primaryAllocation(server)
  return (
    <Card title={t('servers.facts')}>
      <Facts
        rows={[
          [t('word.id'), server.id],
          [
            'UUID',
            <span key="uuid" className="flex items-center gap-1">
              <code className="min-w-0 text-xs wrap-anywhere">{server.uuid}</code>
              <CopyButton text={server.uuid} />
            </span>,
          ],
          [
            t('strings:word.owner'),
            <AdminLink key="owner" to={`users/${server.user}`} className={linkStyle}>
              {relationships?.user?.attributes?.username ?? `#${server.user}`}
            </AdminLink>,
          ],
          [
            t('strings:word.node'),
            <AdminLink key="node" to={`nodes/${server.node}`} className={linkStyle}>
              {relationships?.node?.attributes?.name ?? `#${server.node}`}
            </AdminLink>,
          ],
          [t('word.location'), relationships?.location?.attributes?.short ?? '–'],
          [
            t('word.egg'),
            <AdminLink key="egg" to={`nests/${server.nest}/${server.egg}`} className={linkStyle}>
              {relationships?.egg?.attributes?.name ?? `#${server.egg}`}
            </AdminLink>,
          ],
          [
            t('strings:word.address'),
            primary ? (
              <PrivateText key="address" text={addressOfAllocation(primary)} className="font-mono text-xs" />
            ) : (
              '–'
            ),
          ],
          [t('word.created'), formatDateTime(server.created_at)],
          [t('word.changed'), formatDateTime(server.updated_at)],
        ]}
      />
    </Card>
  )
}
