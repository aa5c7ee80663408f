import { useQuery } from '@tanstack/react-query'
import { Download, Plus, Server as ServerIcon, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { adminGet, adminQuery, adminSend } from '../../api/admin.ts'
import { buttonStyle } from '../../components/button.tsx'
import { saveFile } from '../../components/save-file.ts'
import { Loaded } from '../../components/states.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, useAdminNavigate } from '../admin-link.tsx'
import { AdminPage } from '../admin-page.tsx'
import { can } from '../levels.ts'
import type { PageParams } from '../pages.ts'
import { relatedRows, type Egg, type Item } from '../resources.ts'
import { EggForm } from './egg-form.tsx'
import { EggVariables } from './egg-variables.tsx'

/** One egg: what it says, its variables, and what can be done with it. */
export function EggPage({ params: { nest = '', egg: id = '' } }: { params: PageParams }) {
  const { t } = useTranslation('admin')
  const path = `/nests/${nest}/eggs/${id}`
  const query = useQuery({
    ...adminQuery<Item<Egg>>(path, { include: 'nest,variables' }),
    select: ({ attributes }) => attributes,
  })
  return (
    <AdminPage
      title={query.data?.name ?? `#${id}`}
      text={query.data?.description}
      crumbs={[{ to: 'nests', text: t('nav.nests') }]}
      actions={query.data && <EggActions path={path} egg={query.data} />}
    >
      <Loaded query={query}>
        {(egg) => (
          <div className="flex flex-col gap-4">
            <EggForm path={path} egg={egg} />
            <EggVariables path={path} variables={relatedRows(egg.relationships?.variables)} />
          </div>
        )}
      </Loaded>
    </AdminPage>
  )
}

function EggActions({ path, egg }: { path: string; egg: Egg }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  const saveExport = async () => {
    const document = await adminGet<unknown>(`${path}/export`)
    const name = egg.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
    saveFile(`egg-${name}.json`, 'application/json', `${JSON.stringify(document, null, 4)}\n`)
  }
  return (
    <>
      {can('servers', 'read') && (
        <AdminLink to="servers" search={{ egg_id: egg.id }} className={buttonStyle()}>
          <ServerIcon aria-hidden className="size-4" />
          {t('nav.servers')}
        </AdminLink>
      )}
      {can('servers', 'write') && (
        <AdminLink to="servers/new" search={{ egg: egg.id }} className={buttonStyle()}>
          <Plus aria-hidden className="size-4" />
          {t('servers.create')}
        </AdminLink>
      )}
      <AdminAction icon={Download} label={t('eggs.export')} run={saveExport} />
      {can('eggs', 'write') && (
        <AdminAction
          icon={Trash2}
          isCompact
          variant="plain"
          label={t('list.delete', { name: egg.name })}
          run={() => adminSend('DELETE', path)}
          onDone={() => navigate('nests')}
          confirm={{
            title: t('confirm.delete', { name: egg.name }),
            text: t('eggs.delete_text'),
            typed: egg.name,
          }}
        />
      )}
    </>
  )
}
