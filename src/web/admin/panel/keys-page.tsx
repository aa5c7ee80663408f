import { KeyRound, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { userChoices } from '../form/choice-sources.ts'
import { LevelGrid, levelsOf, levelValues } from '../form/level-grid.tsx'
import { FormDialog } from '../form/form-dialog.tsx'
import { LongTextInput, TextInput } from '../form/fields.tsx'
import { useChoiceName } from '../form/picker.tsx'
import { ResourceForm } from '../form/resource-form.tsx'
import { can, resources } from '../levels.ts'
import { AdminList } from '../list/admin-list.tsx'
import type { ApplicationKey } from '../resources.ts'

/** The Application keys of all administrators. */
export function KeysPage() {
  const { t } = useTranslation('admin')
  const [isCreating, setCreating] = useState(false)
  const isWriter = can('api_keys', 'write')
  return (
    <>
      <AdminList<ApplicationKey>
        title={t('nav.keys')}
        icon={KeyRound}
        path="/keys"
        searchBy="filter[description]"
        searchLabel={t('keys.search')}
        keyOf={({ identifier }) => identifier}
        empty={t('keys.empty')}
        actions={
          isWriter && (
            <Button variant="primary" icon={Plus} onClick={() => setCreating(true)}>
              {t('keys.create')}
            </Button>
          )
        }
        columns={[
          {
            name: 'description',
            label: t('field.description'),
            cell: ({ description, identifier }) => description || identifier,
          },
          {
            name: 'identifier',
            label: t('word.identifier'),
            cell: ({ identifier }) => <code className="text-xs">{identifier}</code>,
          },
          { name: 'levels', label: t('keys.levels'), cell: (key) => <Levels apiKey={key} /> },
          {
            name: 'owner',
            label: t('strings:word.owner'),
            cell: ({ user_id: id }) => <Owner id={id} />,
          },
          {
            name: 'addresses',
            label: t('keys.addresses'),
            isOptional: true,
            cell: ({ allowed_ips: addresses }) =>
              addresses.length === 0 ? t('keys.anywhere') : <PrivateText text={addresses.join(', ')} />,
          },
          {
            name: 'used',
            label: t('keys.used'),
            cell: ({ last_used_at: at }) => (at ? <RelativeTime at={at} /> : t('strings:word.never')),
          },
          {
            name: 'expires',
            label: t('keys.expires'),
            cell: ({ expires_at: at }) => (at ? <RelativeTime at={at} /> : t('strings:word.never')),
          },
        ]}
        {...(isWriter ? { rowActions: (key: ApplicationKey) => <DeleteKey apiKey={key} /> } : {})}
      />
      {isCreating && <NewKey onClose={() => setCreating(false)} />}
    </>
  )
}

function Levels({ apiKey: { acl } }: { apiKey: ApplicationKey }) {
  const { t } = useTranslation('admin')
  const granted = resources.filter((name) => (acl[name] ?? 0) > 0)
  if (granted.length === resources.length && granted.every((name) => acl[name] === 3)) return t('keys.full')
  const names = granted.map((name) => `${t(`level.${name}`)} (${t(`level.is_${acl[name]}`)})`)
  return <span className="text-xs">{names.join(', ') || t('keys.none')}</span>
}

function DeleteKey({ apiKey: { identifier, description } }: { apiKey: ApplicationKey }) {
  const { t } = useTranslation('admin')
  const name = description || identifier
  return (
    <AdminAction
      icon={Trash2}
      isCompact
      label={t('list.delete', { name })}
      run={() => adminSend('DELETE', `/keys/${identifier}`)}
      confirm={{ title: t('confirm.delete', { name }), text: t('keys.delete_text') }}
    />
  )
}

type CreatedKey = { attributes: ApplicationKey; meta: { secret_token: string } }

function NewKey({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('admin')
  const [token, setToken] = useState<string | null>(null)
  if (token !== null) {
    return (
      <Dialog
        open
        onOpenChange={onClose}
        title={t('keys.created')}
        text={t('keys.created_text')}
        actions={
          <Button variant="primary" onClick={onClose}>
            {t('strings:action.close')}
          </Button>
        }
      >
        <div className="flex items-center justify-between gap-3 rounded-control bg-raised py-2 pe-2 ps-3">
          <code className="min-w-0 text-sm wrap-anywhere">{token}</code>
          <CopyButton text={token} />
        </div>
      </Dialog>
    )
  }
  return (
    <FormDialog title={t('keys.create')} onClose={onClose}>
      <ResourceForm
        initial={{ description: '', allowed_ips: '', expires_at: '', acl: '', ...levelValues({}) }}
        submit={t('keys.create')}
        save={({ description, allowed_ips: addresses, expires_at: expiry, ...values }) =>
          adminSend<CreatedKey>('POST', '/keys', {
            description,
            allowed_ips: String(addresses)
              .split(/[\s,]+/)
              .filter(Boolean),
            acl: levelsOf(values),
            expires_at: expiry === '' ? null : new Date(String(expiry)).toISOString(),
          })
        }
        onSaved={({ attributes, meta }) => setToken(attributes.identifier + meta.secret_token)}
      >
        <TextInput name="description" />
        <LongTextInput
          name="allowed_ips"
          label={t('keys.addresses')}
          hint={t('keys.addresses_text')}
          rows={2}
        />
        <TextInput name="expires_at" label={t('keys.expires')} type="datetime-local" />
        <LevelGrid />
      </ResourceForm>
    </FormDialog>
  )
}

/** The owner of a key: by name for those who may read accounts, who can open it as well. */
function Owner({ id }: { id: number }) {
  const mayRead = can('users', 'read')
  const name = useChoiceName(userChoices, mayRead ? String(id) : '')
  return mayRead ? (
    <AdminLink to={`users/${id}`} className={linkStyle}>
      {name || `#${id}`}
    </AdminLink>
  ) : (
    `#${id}`
  )
}
