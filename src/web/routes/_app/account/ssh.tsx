import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { Plus, Terminal, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../../app/use-translation.ts'
import { removeSshKey, type SshKey, sshKeysQuery } from '../../../api/account.ts'
import { AddSshKey } from '../../../account/add-ssh-key.tsx'
import { TextWithTime } from '../../../account/text-with-time.tsx'
import { usePageTitle } from '../../../app/page-title.ts'
import { Button, IconButton } from '../../../components/button.tsx'
import { PageHeader, RowList } from '../../../components/card.tsx'
import { CopyButton } from '../../../components/copy-button.tsx'
import { ConfirmDialog } from '../../../components/dialog.tsx'
import { EmptyState, Loaded } from '../../../components/states.tsx'
import { toast } from '../../../components/toast.tsx'

export const Route = createFileRoute('/_app/account/ssh')({ component: SshKeys })

function SshKeys() {
  const { t } = useTranslation('account')
  const keys = useQuery(sshKeysQuery)
  const [isAdding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<SshKey | null>(null)
  usePageTitle(t('ssh_keys.title'))
  const add = (
    <Button variant="primary" icon={Plus} onClick={() => setAdding(true)}>
      {t('ssh_keys.add')}
    </Button>
  )
  return (
    <>
      <PageHeader
        title={t('ssh_keys.title')}
        text={t('ssh_keys.text')}
        actions={keys.data && keys.data.length > 0 && add}
      />
      <Loaded query={keys}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={Terminal} title={t('ssh_keys.empty')} text={t('ssh_keys.empty_text')}>
              {add}
            </EmptyState>
          ) : (
            <RowList label={t('ssh_keys.title')}>
              {rows.map((key) => (
                <Row key={key.fingerprint} sshKey={key} onRemove={() => setRemoving(key)} />
              ))}
            </RowList>
          )
        }
      </Loaded>
      {isAdding && <AddSshKey onClose={() => setAdding(false)} />}
      {removing && <RemoveSshKey sshKey={removing} onClose={() => setRemoving(null)} />}
    </>
  )
}

function Row({ sshKey, onRemove }: { sshKey: SshKey; onRemove: () => void }) {
  const { t } = useTranslation('account')
  const { name, fingerprint, created_at: created } = sshKey
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <Terminal aria-hidden className="mt-0.5 size-5 shrink-0 text-muted" />
      <div className="min-w-0 flex-1 text-sm">
        <p className="font-medium wrap-anywhere">{name}</p>
        <p className="text-muted">
          <code className="wrap-anywhere">SHA256:{fingerprint}</code>
        </p>
        <p className="text-muted">
          <TextWithTime text="ssh_keys.created" at={created} />
        </p>
      </div>
      <div className="flex shrink-0">
        <CopyButton text={`SHA256:${fingerprint}`} label={t('ssh_keys.copy')} />
        <IconButton icon={Trash2} label={t('ssh_keys.delete', { name })} onClick={onRemove} />
      </div>
    </li>
  )
}

function RemoveSshKey({ sshKey: { fingerprint }, onClose }: { sshKey: SshKey; onClose: () => void }) {
  const { t } = useTranslation('account')
  const queries = useQueryClient()
  const removing = useMutation({
    mutationFn: () => removeSshKey(fingerprint),
    onSuccess: () => {
      toast(t('ssh_keys.deleted'))
      onClose()
      return queries.invalidateQueries({ queryKey: sshKeysQuery.queryKey })
    },
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('ssh_keys.delete_title')}
      text={t('ssh_keys.delete_text')}
      action={t('strings:action.remove')}
      onConfirm={() => removing.mutate()}
      busy={removing.isPending}
      error={removing.error}
    />
  )
}
