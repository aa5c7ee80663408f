import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useTranslation } from '../../../app/use-translation.ts'
import { sendPower } from '../../../api/servers.ts'
import { changeImage, startupQuery } from '../../../api/startup.ts'
import { Button, buttonStyle } from '../../../components/button.tsx'
import { toast, toastError } from '../../../components/toast.tsx'
import { usePower } from '../../power.tsx'
import { useLive, useServer } from '../../server-context.tsx'
import type { LogTerminal } from '../terminal.ts'
import { EulaDialog } from './eula-dialog.tsx'
import { imageForJava, type Problem } from './recognise.ts'

type Props = { action: string; problem: Problem; terminal: LogTerminal | null; onDone: () => void }

/** Pages that help, with the permission to see them. */
const pages: Readonly<Record<string, string | null>> = {
  startup: 'startup.read',
  network: 'allocation.read',
  files: 'file.read',
  backups: 'backup.read',
  usage: null,
}

/** One thing that helps with a problem; nothing where the user may not do it. */
export function ProblemAction({ action, problem, terminal, onDone }: Props): ReactNode {
  if (action in pages) return <PageLink page={action} />
  if (action === 'eula') return <AcceptEula onDone={onDone} />
  if (action === 'restart') return <Restart onDone={onDone} />
  if (action === 'java')
    return problem.java === null ? null : <ChooseJava java={problem.java} onDone={onDone} />
  if (action === 'file') return problem.file === null ? null : <OpenFile file={problem.file} />
  return action === 'error' ? <ShowError terminal={terminal} /> : null
}

function PageLink({ page }: { page: string }) {
  const { t } = useTranslation('helpers')
  const { id, can } = useServer()
  const permission = pages[page] ?? null
  if (permission !== null && !can(permission)) return null
  return (
    <Link
      to={`/server/$server/${page}` as '/server/$server/files'}
      params={{ server: id }}
      className={buttonStyle()}
    >
      {t(`action.${page}`)}
    </Link>
  )
}

function OpenFile({ file }: { file: string }) {
  const { t } = useTranslation('helpers')
  const { id, can } = useServer()
  if (!can('file.read-content')) return null
  return (
    <Link to="/server/$server/files/edit" params={{ server: id }} search={{ file }} className={buttonStyle()}>
      {t('action.file')}
    </Link>
  )
}

function ShowError({ terminal }: { terminal: LogTerminal | null }) {
  const { t } = useTranslation('helpers')
  return <Button onClick={() => terminal?.showError(true)}>{t('action.error')}</Button>
}

function AcceptEula({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation('helpers')
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('action.eula')}</Button>
      <EulaDialog open={open} onOpenChange={setOpen} onAccepted={onDone} />
    </>
  )
}

/** Returns the signal with which the server runs anew; null where the user may not send it. */
function useRestartSignal(): 'start' | 'restart' | null {
  const { can } = useServer()
  const { state } = useLive()
  const signal = state === 'offline' ? 'start' : 'restart'
  return can(`control.${signal}`) ? signal : null
}

function Restart({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation('server')
  const { id } = useServer()
  const power = usePower(id)
  const signal = useRestartSignal()
  if (signal === null) return null
  return (
    <Button busy={power.isPending} onClick={() => power.mutate(signal, { onSuccess: onDone })}>
      {t(`power.${signal}`)}
    </Button>
  )
}

/** Chooses the image of the egg that has this version of Java, and starts the server with it. */
function ChooseJava({ java, onDone }: { java: number; onDone: () => void }) {
  const { t } = useTranslation('helpers')
  const { id, server, can } = useServer()
  const queries = useQueryClient()
  const signal = useRestartSignal()
  const mayChoose = can('startup.read') && can('startup.docker-image') && signal !== null
  const { data } = useQuery({ ...startupQuery(id), enabled: mayChoose })
  const choosing = useMutation({
    mutationFn: async (image: string) => {
      await changeImage(id, image)
      if (signal) await sendPower(id, signal)
    },
    onSuccess: () => {
      toast(t('java_version.done'))
      onDone()
    },
    onError: (error) => toastError(error, t('java_version.failed')),
    onSettled: () => queries.invalidateQueries({ queryKey: ['server', id] }),
  })
  const images = data?.meta.docker_images ?? {}
  const fitting = imageForJava(images, java)
  const isCustom = !Object.values(images).includes(server.docker_image)
  if (!mayChoose || !fitting || isCustom || fitting.image === server.docker_image) return null
  return (
    <Button variant="primary" busy={choosing.isPending} onClick={() => choosing.mutate(fitting.image)}>
      {t('action.java', { version: fitting.java })}
    </Button>
  )
}
