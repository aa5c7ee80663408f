import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from '../app/use-translation.ts'
import { type PowerSignal, sendPower } from '../api/servers.ts'
import { ConfirmDialog, MountOnOpen } from '../components/dialog.tsx'
import { toastError } from '../components/toast.tsx'

/** The permission that each power signal needs. */
export const signalPermissions: Record<PowerSignal, string> = {
  start: 'control.start',
  restart: 'control.restart',
  stop: 'control.stop',
  kill: 'control.stop',
}

/** Whether a signal has an effect in this state; true for an unknown state. */
export function hasEffect(signal: PowerSignal, state: string | null): boolean {
  if (state === null) return true
  if (signal === 'start') return state === 'offline'
  if (signal === 'kill') return state !== 'offline'
  return state === 'running' || state === 'starting'
}

/** Sends power signals to a server. */
export function usePower(server: string) {
  const { t } = useTranslation('server')
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (signal: PowerSignal) => sendPower(server, signal),
    onError: (error) => toastError(error, t('power.failed')),
    onSettled: () => queries.invalidateQueries({ queryKey: ['resources'] }),
  })
}

type KillProps = { server: string; open: boolean; onOpenChange: (open: boolean) => void }

/** Asks for confirmation, then kills a server. */
export const KillDialog = (props: KillProps) => <MountOnOpen as={KillConfirmation} props={props} />

function KillConfirmation({ server, open, onOpenChange }: KillProps) {
  const { t } = useTranslation('server')
  const power = usePower(server)
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title={t('power.kill_title')}
      text={t('power.kill_text')}
      action={t('power.kill')}
      busy={power.isPending}
      onConfirm={() => power.mutate('kill', { onSettled: () => onOpenChange(false) })}
    />
  )
}
