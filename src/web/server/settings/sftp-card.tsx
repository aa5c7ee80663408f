import { ExternalLink } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { site } from '../../app/site.ts'
import { buttonStyle } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { useServer } from '../server-context.tsx'

/** Shows how to connect by SFTP. */
export function SftpCard() {
  const { t } = useTranslation('settings')
  const { id, server } = useServer()
  const { ip, port } = server.sftp_details
  const user = `${site.user?.username}.${id}`
  const address = `sftp://${ip}:${port}`
  return (
    <Card title={t('sftp')} text={t('sftp_text')}>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-4 gap-y-1 text-sm">
        <dt className="text-muted">{t('sftp_address')}</dt>
        <dd className="flex min-w-0 items-center gap-1 font-mono">
          <PrivateText text={address} className="truncate" />
          <CopyButton text={address} label={t('copy_address')} />
        </dd>
        <dt className="text-muted">{t('sftp_user')}</dt>
        <dd className="flex min-w-0 items-center gap-1 font-mono">
          <span className="truncate">{user}</span>
          <CopyButton text={user} label={t('copy_user')} />
        </dd>
      </dl>
      <a href={`sftp://${encodeURIComponent(user)}@${ip}:${port}`} className={`${buttonStyle()} mt-4`}>
        <ExternalLink aria-hidden className="size-4" />
        {t('sftp_open')}
      </a>
    </Card>
  )
}
