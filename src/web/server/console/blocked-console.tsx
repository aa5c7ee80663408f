import { ArrowRightLeft, ArchiveRestore, Ban, CircleX, Download, type LucideIcon, Wrench } from 'lucide-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { conflictQuery } from '../../api/servers.ts'
import { AdminLink } from '../../admin/admin-link.tsx'
import { can as administers } from '../../admin/levels.ts'
import { buttonStyle } from '../../components/button.tsx'
import { Progress } from '../../components/meter.tsx'
import { useLive, useServer } from '../server-context.tsx'
import type { Conflict } from '../server-state.ts'
import { ConsoleNotice } from './console-notice.tsx'
import { ConsolePanel } from './console-panel.tsx'

const InstallationDetails = lazy(async () => ({
  default: (await import('../installation-details.tsx')).InstallationDetails,
}))

const icons: Record<Conflict, LucideIcon> = {
  suspended: Ban,
  installing: Download,
  install_failed: CircleX,
  restoring: ArchiveRestore,
  transferring: ArrowRightLeft,
  maintenance: Wrench,
}

/** Conflicts that end on their own. */
const temporary = new Set<Conflict>(['installing', 'restoring', 'transferring'])

/** The page of the administration on which an administrator can do something about a conflict. */
const adminPages: Record<Conflict, string> = {
  suspended: '/manage',
  installing: '/manage',
  install_failed: '/startup',
  restoring: '',
  transferring: '/transfer',
  maintenance: '',
}

/** The texts that are said here at more length than elsewhere, and to administrators: what they can do. */
type LongText =
  | 'console_away.install_failed'
  | 'console_away.suspended_admin'
  | 'console_away.install_failed_admin'
  | 'console_away.maintenance_admin'
const texts: Partial<Record<Conflict, LongText>> = { install_failed: 'console_away.install_failed' }
const adminTexts: Partial<Record<Conflict, LongText>> = {
  suspended: 'console_away.suspended_admin',
  install_failed: 'console_away.install_failed_admin',
  maintenance: 'console_away.maintenance_admin',
}

/** Returns the text about a conflict for the user. */
const textOf = (conflict: Conflict) =>
  (administers('servers', 'write') ? adminTexts : texts)[conflict] ?? (`banner.${conflict}` as const)

/** What stands in place of the console while the panel refuses actions on the server. Administrators see the output below it. */
export function BlockedConsole({ conflict }: { conflict: Conflict }) {
  const { t } = useTranslation('server')
  const { id } = useServer()
  const { connection } = useLive()
  const { data } = useQuery(conflictQuery(id, conflict))
  const isWatched = connection === 'open'
  const title = t(`strings:state.${conflict}`)
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-3">
      <ConsoleNotice
        icon={icons[conflict]}
        tone={conflict === 'suspended' || conflict === 'install_failed' ? 'bad' : 'warn'}
        title={title}
        text={t(textOf(conflict))}
        since={data?.attributes.since}
        isAboveOutput={isWatched}
        {...(administers('servers', 'write')
          ? { actions: <AdminPageLink page={adminPages[conflict]} /> }
          : {})}
      >
        {temporary.has(conflict) && <Progress label={title} ratio={null} />}
        {(conflict === 'installing' || conflict === 'install_failed') && (
          <Suspense>
            <InstallationDetails />
          </Suspense>
        )}
      </ConsoleNotice>
      {isWatched && <ConsolePanel isReadOnly />}
    </div>
  )
}

/** Leads an administrator to the page of the server in the administration. */
export function AdminPageLink({ page }: { page: string }) {
  const { t } = useTranslation('server')
  const { server } = useServer()
  return (
    <AdminLink to={`servers/${server.internal_id}${page}`} className={`${buttonStyle()} hover:bg-raised`}>
      {t('console_away.administration')}
    </AdminLink>
  )
}
