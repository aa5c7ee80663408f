import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { reinstallServer } from '../../api/server-settings.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'

/** Runs the installer again, after the server's name was typed. */
export function ReinstallCard() {
  const { t } = useTranslation('settings')
  const { id, server } = useServer()
  const queries = useQueryClient()
  const [isAsking, ask] = useState(false)
  const reinstalling = useMutation({
    mutationFn: () => reinstallServer(id),
    onSuccess: async () => {
      ask(false)
      toast(t('reinstalling'))
      await queries.invalidateQueries({ queryKey: ['server', id] })
    },
  })
  return (
    <Card title={t('reinstall')} text={t('reinstall_text')}>
      <Button look="danger" onClick={() => ask(true)}>
        {t('reinstall')}
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={ask}
        title={t('reinstall')}
        text={t('reinstall_text')}
        action={t('reinstall')}
        typed={server.name}
        busy={reinstalling.isPending}
        error={reinstalling.error}
        onConfirm={() => reinstalling.mutate()}
      />
    </Card>
  )
}
