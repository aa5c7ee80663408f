import { useQuery } from '@tanstack/react-query'
import { Database as DatabaseIcon, RotateCw, Trash2 } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminGet, adminQuery, adminSend } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { buttonStyle } from '../../components/button.tsx'
import { RowList } from '../../components/card.tsx'
import { EmptyState, Loaded } from '../../components/states.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink } from '../admin-link.tsx'
import { FormSection, SelectInput, TextInput } from '../form/fields.tsx'
import { ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import type { Database, DatabaseHost, List, PageOf, Server } from '../resources.ts'

/** The databases of a server. */
export function ServerDatabases({ server }: { server: Server }) {
  const { t } = useTranslation('admin')
  const path = `/servers/${server.id}/databases`
  const query = useQuery({ ...adminQuery<List<Database>>(path, { include: 'host' }), select: rowsOf })
  const hosts = useQuery({
    queryKey: ['admin', 'database-hosts', 'all'],
    queryFn: ({ signal }) =>
      adminGet<PageOf<DatabaseHost>>('/database-hosts', { per_page: 500 }, signal).then(rowsOf),
    enabled: can('server_databases', 'write') && can('database_hosts', 'read'),
  })
  return (
    <div className="flex flex-col gap-4">
      <Loaded query={query}>
        {(databases) =>
          databases.length === 0 ? (
            <NoDatabases hasHosts={hosts.data?.length !== 0} />
          ) : (
            <RowList label={t('servers.part_databases')}>
              {databases.map((database) => (
                <DatabaseRow key={database.id} path={path} database={database} />
              ))}
            </RowList>
          )
        }
      </Loaded>
      {hosts.data && hosts.data.length > 0 && <NewDatabase path={path} hosts={hosts.data} />}
    </div>
  )
}

function NoDatabases({ hasHosts }: { hasHosts: boolean }) {
  const { t } = useTranslation('admin')
  if (hasHosts)
    return (
      <EmptyState
        icon={DatabaseIcon}
        title={t('servers.no_databases')}
        text={t('servers.no_databases_text')}
      />
    )
  return (
    <EmptyState icon={DatabaseIcon} title={t('servers.no_databases')} text={t('servers.no_hosts')}>
      {can('database_hosts', 'write') && (
        <AdminLink to="database-hosts" className={buttonStyle()}>
          {t('nav.database_hosts')}
        </AdminLink>
      )}
    </EmptyState>
  )
}

function DatabaseRow({ path, database }: { path: string; database: Database }) {
  const { t } = useTranslation('admin')
  const own = `${path}/${database.id}`
  const host = database.relationships?.host?.attributes
  return (
    <li className="flex flex-wrap items-center gap-3 px-4 py-3 text-sm">
      <DatabaseIcon aria-hidden className="size-5 shrink-0 text-muted" />
      <div className="min-w-0 flex-1">
        <p className="font-medium wrap-anywhere">{database.database}</p>
        <p className="text-muted wrap-anywhere">
          {database.username} · {database.remote} · {host ? `${host.host}:${host.port}` : `#${database.host}`}
        </p>
      </div>
      {can('server_databases', 'write') && (
        <span className="flex">
          <AdminAction
            label={t('servers.rotate_password')}
            icon={RotateCw}
            isCompact
            run={() => adminSend('POST', `${own}/reset-password`)}
            done={t('servers.password_rotated')}
            confirm={{ title: t('servers.rotate_password'), text: t('servers.rotate_password_text') }}
          />
          <AdminAction
            label={t('strings:action.delete')}
            icon={Trash2}
            isCompact
            run={() => adminSend('DELETE', own)}
            confirm={{
              title: t('confirm.delete', { name: database.database }),
              text: t('servers.delete_database_text'),
              typed: database.database,
            }}
          />
        </span>
      )}
    </li>
  )
}

function NewDatabase({ path, hosts }: { path: string; hosts: readonly DatabaseHost[] }) {
  const { t } = useTranslation('admin')
  const choices = hosts.map(({ id, name }) => [String(id), name] as const)
  return (
    <ResourceForm
      initial={{ database: '', remote: '%', host: choices[0]?.[0] ?? '' }}
      save={({ database, remote, host }) => adminSend('POST', path, { database, remote, host: Number(host) })}
      submit={t('servers.create_database')}
      saved={t('servers.database_created')}
    >
      <FormSection title={t('servers.create_database')}>
        <TextInput name="database" isRequired />
        <TextInput name="remote" isRequired />
        <SelectInput name="host" label={t('word.database_host')} choices={choices} />
      </FormSection>
    </ResourceForm>
  )
}
