import { useQuery } from '@tanstack/react-query'
import { Copy, Download, Plus, RefreshCw, Server as ServerIcon, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminGet, adminQuery, adminSend } from '../../api/admin.ts'
import { Button, buttonStyle } from '../../components/button.tsx'
import { saveFile } from '../../components/save-file.ts'
import { Loaded } from '../../components/states.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, useAdminNavigate } from '../admin-link.tsx'
import { AdminPage } from '../admin-page.tsx'
import { TextInput } from '../form/fields.tsx'
import { FormDialog } from '../form/form-dialog.tsx'
import { ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import type { PageParams } from '../pages.ts'
import { relatedRows, type Egg, type Item } from '../resources.ts'
import { EggForm } from './egg-form.tsx'
import { EggVariables } from './egg-variables.tsx'
import { UpdateEgg } from './update-egg.tsx'

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
          {t('servers.create_from')}
        </AdminLink>
      )}
      {can('eggs', 'write') && <EggCopies egg={egg} />}
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

/** Updates an egg from its own URL, and makes another egg from it. */
function EggCopies({ egg }: { egg: Egg }) {
  const { t } = useTranslation('admin')
  const [open, setOpen] = useState<'update' | 'duplicate' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      {egg.update_url && (
        <Button icon={RefreshCw} onClick={() => setOpen('update')}>
          {t('eggs.check_update')}
        </Button>
      )}
      <Button icon={Copy} onClick={() => setOpen('duplicate')}>
        {t('eggs.duplicate')}
      </Button>
      {open === 'update' && egg.update_url && <UpdateEgg egg={egg} url={egg.update_url} onClose={close} />}
      {open === 'duplicate' && <DuplicateEgg egg={egg} onClose={close} />}
    </>
  )
}

function DuplicateEgg({ egg, onClose }: { egg: Egg; onClose: () => void }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  return (
    <FormDialog
      title={t('eggs.duplicate_of', { name: egg.name })}
      text={t('eggs.duplicate_text')}
      onClose={onClose}
    >
      <ResourceForm
        initial={{ name: t('eggs.copy_of', { name: egg.name }) }}
        save={(values) => adminSend<Item<Egg>>('POST', `/nests/${egg.nest}/eggs/${egg.id}/duplicate`, values)}
        submit={t('eggs.duplicate')}
        saved={t('eggs.duplicated')}
        onSaved={({ attributes }) => {
          onClose()
          navigate(`nests/${attributes.nest}/${attributes.id}`)
        }}
      >
        <TextInput name="name" isRequired />
      </ResourceForm>
    </FormDialog>
  )
}
