import { useMutation } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { writeFile } from '../../api/files.ts'
import { sendPower } from '../../api/servers.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError } from '../../components/field.tsx'
import { toast } from '../../components/toast.tsx'
import type { SocketEvent } from '../console-socket.ts'
import { useServer, useSocketEvents } from '../server-context.tsx'
import { plainText } from './console-log.ts'

const eulaPrompt = /you need to agree to the eula/i
const eula = 'https://aka.ms/MinecraftEULA'

/** Accepts the EULA in its file and restarts the server. */
async function acceptEula(server: string): Promise<void> {
  await writeFile(server, '/eula.txt', 'eula=true\n')
  await sendPower(server, 'restart')
}

/** Asks the user to accept the Minecraft EULA when the server's output demands it. */
export function EulaDialog() {
  const { server } = useServer()
  return server.egg_features?.includes('eula') ? <EulaQuestion /> : null
}

function EulaQuestion() {
  const { t } = useTranslation('console')
  const { id, can } = useServer()
  const [open, setOpen] = useState(false)
  const onEvent = useCallback(({ event, args }: SocketEvent) => {
    if (event === 'console output' && eulaPrompt.test(plainText(args[0] ?? ''))) setOpen(true)
  }, [])
  useSocketEvents(onEvent)
  const acceptance = useMutation({
    mutationFn: () => acceptEula(id),
    onSuccess: () => {
      setOpen(false)
      toast(t('eula.done'))
    },
  })
  const mayAccept = can('file.create') && can('control.restart')
  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      width="small"
      title={t('eula.title')}
      text={mayAccept ? t('eula.text') : t('eula.denied')}
      actions={
        <>
          <Button onClick={() => setOpen(false)}>{t('strings:action.cancel')}</Button>
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
