import { useMutation } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { request } from '../../api/request.ts'
import { sendPower } from '../../api/servers.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError } from '../../components/field.tsx'
import { toast } from '../../components/toast.tsx'
import type { SocketEvent } from '../console-socket.ts'
import { useServer, useSocketEvents } from '../server-context.tsx'
import { plainText } from './console-log.ts'

const asked = /you need to agree to the eula/i
const eula = 'https://aka.ms/MinecraftEULA'

/** Writes the agreement and starts the server again. */
async function agree(server: string): Promise<void> {
  await request('POST', `/api/client/servers/${server}/files/write`, {
    query: { file: '/eula.txt' },
    body: 'eula=true\n',
  })
  await sendPower(server, 'restart')
}

/** Asks for what the game's makers want to be asked for, when the game's output says so. */
export function EulaDialog() {
  const { server } = useServer()
  return server.egg_features?.includes('eula') ? <EulaQuestion /> : null
}

function EulaQuestion() {
  const { t } = useTranslation('console')
  const { id, can } = useServer()
  const [open, setOpen] = useState(false)
  const hear = useCallback(({ event, args }: SocketEvent) => {
    if (event === 'console output' && asked.test(plainText(args[0] ?? ''))) setOpen(true)
  }, [])
  useSocketEvents(hear)
  const agreement = useMutation({
    mutationFn: () => agree(id),
    onSuccess: () => {
      setOpen(false)
      toast(t('eula.done'))
    },
  })
  const mayAgree = can('file.create') && can('control.restart')
  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      width="small"
      title={t('eula.title')}
      text={mayAgree ? t('eula.text') : t('eula.denied')}
      actions={
        <>
          <Button onClick={() => setOpen(false)}>{t('strings:action.cancel')}</Button>
          {mayAgree && (
            <Button look="primary" busy={agreement.isPending} onClick={() => agreement.mutate()}>
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
      <FormError error={agreement.error} />
    </Dialog>
  )
}
