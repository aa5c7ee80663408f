import { useMutation } from '@tanstack/react-query'
import { useTranslation } from '../../../app/use-translation.ts'
import { writeFile } from '../../../api/files.ts'
import { sendPower } from '../../../api/servers.ts'
import { Button } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { FormError } from '../../../components/field.tsx'
import { toast } from '../../../components/toast.tsx'
import { useServer } from '../../server-context.tsx'

const eula = 'https://aka.ms/MinecraftEULA'

/** Accepts the EULA in its file and restarts the server. */
async function acceptEula(server: string): Promise<void> {
  await writeFile(server, '/eula.txt', 'eula=true\n')
  await sendPower(server, 'restart')
}

/** Asks the user to accept the Minecraft EULA. */
export function EulaDialog({
  open,
  onOpenChange,
  onAccepted,
}: {
  open: boolean
  onOpenChange: (open: boolean) => void
  onAccepted: () => void
}) {
  const { t } = useTranslation('console')
  const { id, can } = useServer()
  const acceptance = useMutation({
    mutationFn: () => acceptEula(id),
    onSuccess: () => {
      onOpenChange(false)
      toast(t('eula.done'))
      onAccepted()
    },
  })
  const mayAccept = can('file.create') && can('control.restart')
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      width="small"
      title={t('eula.title')}
      text={mayAccept ? t('eula.text') : t('eula.denied')}
      actions={
        <>
          <Button onClick={() => onOpenChange(false)}>{t('strings:action.cancel')}</Button>
          {mayAccept && (
            <Button variant="primary" busy={acceptance.isPending} onClick={() => acceptance.mutate()}>
              {t('eula.agree')}
            </Button>
          )}
        </>
      }
    >
      <p className="text-sm">
        <a href={eula} target="_blank" rel="noopener noreferrer" className="text-brand-text underline">
          {t('eula.link')}
        </a>
      </p>
      <FormError error={acceptance.error} />
    </Dialog>
  )
}
