import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { reinstallServer } from '../api/server-settings.ts'
import { Button } from '../components/button.tsx'
import { ConfirmDialog } from '../components/dialog.tsx'
import { toast } from '../components/toast.tsx'
import { useServer } from './server-context.tsx'

/** Runs the installer again, after the user has typed the server's name. It is quiet where it is not what to do first. */
export function ReinstallButton({ label, isQuiet = false }: { label: string; isQuiet?: boolean }) {
  const { t } = useTranslation('settings')
  const { id, server } = useServer()
  const queries = useQueryClient()
  const [isConfirming, setConfirming] = useState(false)
  const reinstalling = useMutation({
    mutationFn: () => reinstallServer(id),
    onSuccess: async () => {
      setConfirming(false)
      toast(t('reinstalling'))
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['server', id] }),
        queries.invalidateQueries({ queryKey: ['installation', id] }),
      ])
    },
  })
  return (
    <>
      <Button variant={isQuiet ? 'danger-plain' : 'danger'} onClick={() => setConfirming(true)}>
        {label}
      </Button>
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
        title={t('reinstall')}
        text={t('reinstall_text')}
        action={t('reinstall')}
        confirmationText={server.name}
        busy={reinstalling.isPending}
        error={reinstalling.error}
        onConfirm={() => reinstalling.mutate()}
      />
    </>
  )
}
