import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { LogOut, Monitor } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { endOtherSessions, endSession, type OwnSession, sessionsQuery } from '../api/security.ts'
import { Badge } from '../components/badge.tsx'
import { Button, IconButton } from '../components/button.tsx'
import { Card, RowList } from '../components/card.tsx'
import { ConfirmDialog } from '../components/dialog.tsx'
import { PrivateText } from '../components/private-text.tsx'
import { Loaded } from '../components/states.tsx'
import { toast, toastError } from '../components/toast.tsx'
import { TextWithTime } from './text-with-time.tsx'
import { deviceName } from './device-name.ts'

/** Lists the browsers in which the user is signed in. */
export function Sessions() {
  const { t } = useTranslation('account')
  const sessions = useQuery(sessionsQuery)
  const hasOthers = sessions.data?.some(({ is_current: isCurrent }) => !isCurrent) ?? false
  return (
    <Card title={t('sessions.title')} text={t('sessions.text')} actions={hasOthers && <EndOtherSessions />}>
      <Loaded query={sessions}>
        {(rows) => (
          <RowList label={t('sessions.title')}>
            {rows.map((session) => (
              <Row key={session.id} session={session} />
            ))}
          </RowList>
        )}
      </Loaded>
    </Card>
  )
}

function Row({ session }: { session: OwnSession }) {
  const { t } = useTranslation('account')
  const queries = useQueryClient()
  const device = deviceName(session.user_agent) ?? t('sessions.unknown')
  const ending = useMutation({
    mutationFn: () => endSession(session.id),
    onSuccess: () => toast(t('sessions.ended')),
    onError: (error) => toastError(error, t('sessions.failed')),
    onSettled: () => queries.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  })
  return (
    <li className="flex items-center gap-3 px-4 py-3">
      <Monitor aria-hidden className="size-5 shrink-0 text-muted" />
      <div className="min-w-0 flex-1 text-sm">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium wrap-anywhere" title={session.user_agent}>
            {device}
          </span>
          {session.is_current && <Badge tone="brand">{t('sessions.current')}</Badge>}
        </p>
        <p className="flex flex-wrap gap-x-2 text-muted">
          <PrivateText text={session.ip} className="tabular-nums" />
          <TextWithTime text="sessions.active" at={session.last_used_at} />
        </p>
      </div>
      {!session.is_current && (
        <IconButton
          icon={LogOut}
          label={t('sessions.end_device', { device })}
          busy={ending.isPending}
          onClick={() => ending.mutate()}
        />
      )}
    </li>
  )
}

function EndOtherSessions() {
  const { t } = useTranslation('account')
  const queries = useQueryClient()
  const [isConfirming, setConfirming] = useState(false)
  const ending = useMutation({
    mutationFn: endOtherSessions,
    onSuccess: () => {
      toast(t('sessions.others_ended'))
      setConfirming(false)
      return queries.invalidateQueries({ queryKey: sessionsQuery.queryKey })
    },
  })
  return (
    <>
      <Button onClick={() => setConfirming(true)}>{t('sessions.end_others')}</Button>
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
        title={t('sessions.end_others_title')}
        text={t('sessions.end_others_text')}
        action={t('sessions.end_others')}
        onConfirm={() => ending.mutate()}
        busy={ending.isPending}
        error={ending.error}
      />
    </>
  )
}
