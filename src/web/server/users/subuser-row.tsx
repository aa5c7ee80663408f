import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Pencil, ShieldCheck, UserMinus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { removeSubuser, type Subuser, subusersKey } from '../../api/subusers.ts'
import { site } from '../../app/site.ts'
import { Avatar } from '../../components/avatar.tsx'
import { Badge } from '../../components/badge.tsx'
import { IconButton } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'

/** A subuser with their actions; users cannot change themselves. */
export function SubuserRow({ subuser, onEdit }: { subuser: Subuser; onEdit: () => void }) {
  const { t } = useTranslation('users')
  const { id, server, can } = useServer()
  const queries = useQueryClient()
  const [isConfirming, setConfirming] = useState(false)
  const removing = useMutation({
    mutationFn: () => removeSubuser(id, subuser.uuid),
    onSuccess: () => setConfirming(false),
    onSettled: () => queries.invalidateQueries({ queryKey: subusersKey(id) }),
  })
  const isSelf = subuser.uuid === site.user?.uuid
  return (
    <li className="flex items-center gap-3 px-4 py-3">
      <Avatar image={subuser.image} name={subuser.username} />
      <div className="min-w-0 flex-1 text-sm">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          <PrivateText text={subuser.email} className="wrap-anywhere" />
          {isSelf && <Badge tone="brand">{t('you')}</Badge>}
          {subuser.pending && <Badge tone="warn">{t('pending')}</Badge>}
        </p>
        <p className="flex flex-wrap items-center gap-x-2 text-muted">
          {subuser.pending
            ? t('pending_text')
            : t('permissions_count', { count: subuser.permissions.length })}
          {subuser['2fa_enabled'] && (
            <span className="inline-flex items-center gap-1">
              <ShieldCheck aria-hidden className="size-3.5" /> {t('two_factor')}
            </span>
          )}
        </p>
      </div>
      {!isSelf && can('user.update') && (
        <IconButton
          icon={Pencil}
          label={t('edit', { name: subuser.username })}
          disabled={isBlocked(server)}
          onClick={onEdit}
        />
      )}
      {!isSelf && can('user.delete') && (
        <IconButton
          icon={UserMinus}
          label={t('remove', { name: subuser.username })}
          disabled={isBlocked(server)}
          onClick={() => setConfirming(true)}
        />
      )}
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
        title={t('remove', { name: subuser.username })}
        text={t('remove_text', { email: subuser.email })}
        action={t('strings:action.remove')}
        busy={removing.isPending}
        error={removing.error}
        onConfirm={() => removing.mutate()}
      />
    </li>
  )
}
