import { useTranslation } from 'react-i18next'
import { Badge, type Tone } from '../../components/badge.tsx'
import type { Server } from '../resources.ts'

/** The statuses that a list of servers can be filtered by; `normal` is that of servers without one. */
export const serverStatuses = [
  'normal',
  'installing',
  'install_failed',
  'reinstall_failed',
  'suspended',
  'restoring_backup',
] as const

const tones: Record<(typeof serverStatuses)[number], Tone> = {
  normal: 'good',
  installing: 'info',
  install_failed: 'bad',
  reinstall_failed: 'bad',
  suspended: 'warn',
  restoring_backup: 'info',
}

/** What the panel knows about a server without asking its node. */
export function ServerStatus({ status }: Pick<Server, 'status'>) {
  const { t } = useTranslation('admin')
  const name = status ?? 'normal'
  return <Badge tone={tones[name]}>{t(`status.${name}`)}</Badge>
}
