import { useQuery } from '@tanstack/react-query'
import { FileUp, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, IconButton } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { EmptyState, Loaded } from '../../components/states.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { AdminPage } from '../admin-page.tsx'
import { currentOf } from '../form/current-version.ts'
import { FormDialog } from '../form/form-dialog.tsx'
import { LongTextInput, TextInput } from '../form/fields.tsx'
import { type FormValues, ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import { relatedRows, type Egg, type Nest, type PageOf } from '../resources.ts'
import { GameIcon } from '../../games/game-icon.tsx'
import { ImportEggs } from './import-eggs.tsx'

/** The nests with their eggs. */
export function NestsPage() {
  const { t } = useTranslation('admin')
  const [edited, setEdited] = useState<Nest | 'new' | null>(null)
  const [importing, setImporting] = useState<Nest | null>(null)
  const query = useQuery({
    ...adminQuery<PageOf<Nest>>('/nests', { include: 'eggs', per_page: 100 }),
    select: rowsOf,
  })
  const create = can('nests', 'write') && (
    <Button variant="primary" icon={Plus} onClick={() => setEdited('new')}>
      {t('eggs.create_nest')}
    </Button>
  )
  return (
    <AdminPage
      title={t('nav.nests')}
      text={t('eggs.text')}
      actions={query.data && query.data.length > 0 && create}
    >
      <Loaded query={query}>
        {(nests) => (
          <div className="flex flex-col gap-4">
            {nests.length === 0 && (
              <EmptyState icon={FileUp} title={t('eggs.empty')}>
                {create}
              </EmptyState>
            )}
            {nests.map((nest) => (
              <NestCard
                key={nest.id}
                nest={nest}
                onEdit={() => setEdited(nest)}
                onImport={() => setImporting(nest)}
              />
            ))}
          </div>
        )}
      </Loaded>
      {edited && <NestDialog nest={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
      {importing && <ImportEggs nest={importing} onClose={() => setImporting(null)} />}
    </AdminPage>
  )
}

function NestCard({ nest, onEdit, onImport }: { nest: Nest; onEdit: () => void; onImport: () => void }) {
  const { t } = useTranslation('admin')
  const eggs = relatedRows(nest.relationships?.eggs)
  return (
    <Card
      title={nest.name}
      text={nest.description}
      actions={
        <span className="flex flex-wrap items-center gap-1">
          {can('eggs', 'write') && (
            <Button icon={FileUp} onClick={onImport} aria-label={t('eggs.import_into', { name: nest.name })}>
              {t('eggs.import')}
            </Button>
          )}
          {can('nests', 'write') && (
            <>
              <IconButton icon={Pencil} label={t('list.edit', { name: nest.name })} onClick={onEdit} />
              <AdminAction
                icon={Trash2}
                isCompact
                disabled={eggs.length > 0}
                label={t('list.delete', { name: nest.name })}
                run={() => adminSend('DELETE', `/nests/${nest.id}`)}
                confirm={{
                  title: t('confirm.delete', { name: nest.name }),
                  text: t('eggs.delete_nest_text'),
                }}
              />
            </>
          )}
        </span>
      }
    >
      {eggs.length === 0 ? (
        <p className="text-sm text-muted">{t('eggs.no_eggs')}</p>
      ) : (
        <ul className="grid gap-2 sm:grid-cols-2 xl:grid-cols-3">
          {eggs.map((egg) => (
            <EggItem key={egg.id} nest={nest} egg={egg} />
          ))}
        </ul>
      )}
    </Card>
  )
}

const EggItem = ({ nest, egg }: { nest: Nest; egg: Egg }) => (
  <li className="min-w-0 rounded-control border border-line p-3 text-sm">
    <p className="flex items-center gap-2">
      <GameIcon name={egg.name} icon={egg.icon} />
      <AdminLink to={`nests/${nest.id}/${egg.id}`} className={`${linkStyle} me-auto wrap-anywhere`}>
        {egg.name}
      </AdminLink>
      <Badge>#{egg.id}</Badge>
    </p>
    <p className="mt-1 line-clamp-2 text-muted">{egg.description || egg.author}</p>
  </li>
)

const valuesOf = (nest: Nest | null): FormValues => ({
  name: nest?.name ?? '',
  description: nest?.description ?? '',
})

function NestDialog({ nest, onClose }: { nest: Nest | null; onClose: () => void }) {
  const { t } = useTranslation('admin')
  const path = nest ? `/nests/${nest.id}` : '/nests'
  return (
    <FormDialog title={nest ? t('list.edit', { name: nest.name }) : t('eggs.create_nest')} onClose={onClose}>
      <ResourceForm
        initial={valuesOf(nest)}
        fetchCurrent={nest ? currentOf(path, valuesOf) : undefined}
        subject={nest ? { type: 'nest', id: nest.id } : undefined}
        save={({ name, description }, version) =>
          adminSend(nest ? 'PATCH' : 'POST', path, { name, description: description || null }, version)
        }
        onSaved={onClose}
      >
        <TextInput name="name" isRequired />
        <LongTextInput name="description" />
      </ResourceForm>
    </FormDialog>
  )
}
