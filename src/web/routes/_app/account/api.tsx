import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { KeyRound, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../../app/use-translation.ts'
import { type ApiKey, apiKeysQuery, deleteApiKey } from '../../../api/account.ts'
import { CreateApiKey } from '../../../account/create-api-key.tsx'
import { TextWithTime } from '../../../account/text-with-time.tsx'
import { usePageTitle } from '../../../app/page-title.ts'
import { Button, IconButton } from '../../../components/button.tsx'
import { PageHeader, RowList } from '../../../components/card.tsx'
import { ConfirmDialog } from '../../../components/dialog.tsx'
import { PrivateText } from '../../../components/private-text.tsx'
import { EmptyState, Loaded } from '../../../components/states.tsx'
import { toast } from '../../../components/toast.tsx'

export const Route = createFileRoute('/_app/account/api')({ component: ApiKeys })

function ApiKeys() {
  const { t } = useTranslation('account')
  const keys = useQuery(apiKeysQuery)
  const [isCreating, setCreating] = useState(false)
  const [deleting, setDeleting] = useState<ApiKey | null>(null)
  usePageTitle(t('api_keys.title'))
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setCreating(true)}>
      {t('api_keys.add')}
    </Button>
  )
  return (
    <>
      <PageHeader
        title={t('api_keys.title')}
        text={t('api_keys.text')}
        actions={keys.data && keys.data.length > 0 && create}
      />
      <Loaded query={keys}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={KeyRound} title={t('api_keys.empty')} text={t('api_keys.empty_text')}>
              {create}
            </EmptyState>
          ) : (
            <RowList label={t('api_keys.title')}>
              {rows.map((key) => (
                <Row key={key.identifier} apiKey={key} onDelete={() => setDeleting(key)} />
              ))}
            </RowList>
          )
        }
      </Loaded>
      {isCreating && <CreateApiKey onClose={() => setCreating(false)} />}
      {deleting && <DeleteApiKey apiKey={deleting} onClose={() => setDeleting(null)} />}
    </>
  )
}

function Row({ apiKey, onDelete }: { apiKey: ApiKey; onDelete: () => void }) {
  const { t } = useTranslation('account')
  const { identifier, description, allowed_ips: addresses, last_used_at: used } = apiKey
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <KeyRound aria-hidden className="mt-0.5 size-5 shrink-0 text-muted" />
      <div className="min-w-0 flex-1 text-sm">
        <p className="font-medium wrap-anywhere">{description || t('api_keys.unnamed')}</p>
        <p className="flex flex-wrap gap-x-3 text-muted">
          <code>{identifier}</code>
          <TextWithTime text="api_keys.created" at={apiKey.created_at} />
          {used ? <TextWithTime text="api_keys.used" at={used} /> : <span>{t('api_keys.never_used')}</span>}
        </p>
        <p className="mt-0.5 flex flex-wrap gap-x-2 text-muted">
          {addresses.length === 0
            ? t('api_keys.anywhere')
            : addresses.map((address) => <PrivateText key={address} text={address} className="font-mono" />)}
        </p>
      </div>
      <IconButton
        icon={Trash2}
        label={t('api_keys.delete', { name: description || identifier })}
        onClick={onDelete}
      />
    </li>
  )
}

function DeleteApiKey({ apiKey: { identifier }, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { t } = useTranslation('account')
  const queries = useQueryClient()
  const deleting = useMutation({
    mutationFn: () => deleteApiKey(identifier),
    onSuccess: () => {
      toast(t('api_keys.deleted'))
      onClose()
      return queries.invalidateQueries({ queryKey: apiKeysQuery.queryKey })
    },
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('api_keys.delete_title')}
      text={t('api_keys.delete_text', { identifier })}
      action={t('strings:action.delete')}
      onConfirm={() => deleting.mutate()}
      busy={deleting.isPending}
      error={deleting.error}
    />
  )
}
