import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Pencil, ShieldCheck, UserMinus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { removeSubuser, type Subuser, subusersKey } from '../../api/subusers.ts'
import { site } from '../../app/site.ts'
import { Avatar } from '../../components/avatar.tsx'
import { Badge } from '../../components/badge.tsx'
import { IconButton } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'

/** Somebody with access; nobody changes himself. */
export function SubuserRow({ person, onEdit }: { person: Subuser; onEdit: () => void }) {
  const { t } = useTranslation('users')
  const { id, server, can } = useServer()
  const queries = useQueryClient()
  const [isAsking, ask] = useState(false)
  const removing = useMutation({
    mutationFn: () => removeSubuser(id, person.uuid),
    onSuccess: () => ask(false),
    onSettled: () => queries.invalidateQueries({ queryKey: subusersKey(id) }),
  })
  const isReader = person.uuid === site.user?.uuid
  return (
    <li className="flex items-center gap-3 px-4 py-3">
      <Avatar image={person.image} name={person.username} />
      <div className="min-w-0 flex-1 text-sm">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          <PrivateText text={person.email} className="wrap-anywhere" />
          {isReader && <Badge tone="brand">{t('you')}</Badge>}
        </p>
        <p className="flex flex-wrap items-center gap-x-2 text-muted">
          {t('permissions_count', { count: person.permissions.length })}
          {person['2fa_enabled'] && (
            <span className="inline-flex items-center gap-1">
              <ShieldCheck aria-hidden className="size-3.5" /> {t('two_factor')}
            </span>
          )}
        </p>
      </div>
      {!isReader && can('user.update') && (
        <IconButton
          icon={Pencil}
          label={t('edit', { name: person.username })}
          disabled={isBlocked(server)}
          onClick={onEdit}
        />
      )}
      {!isReader && can('user.delete') && (
        <IconButton
          icon={UserMinus}
          label={t('remove', { name: person.username })}
          disabled={isBlocked(server)}
          onClick={() => ask(true)}
        />
      )}
      <ConfirmDialog
        open={isAsking}
        onOpenChange={ask}
        title={t('remove', { name: person.username })}
        text={t('remove_text', { email: person.email })}
        action={t('strings:action.remove')}
        busy={removing.isPending}
        error={removing.error}
        onConfirm={() => removing.mutate()}
      />
    </li>
  )
}
