import { createFileRoute } from '@tanstack/react-router'
import { useTranslation } from '../../../../app/use-translation.ts'
import { usePageTitle } from '../../../../app/page-title.ts'
import { loadTexts } from '../../../../app/texts.ts'
import { Card, PageHeader } from '../../../../components/card.tsx'
import { CopyButton } from '../../../../components/copy-button.tsx'
import { useServer } from '../../../../server/server-context.tsx'
import { DetailsCard } from '../../../../server/settings/details-card.tsx'
import { ReinstallCard } from '../../../../server/settings/reinstall-card.tsx'
import { SftpCard } from '../../../../server/settings/sftp-card.tsx'

export const Route = createFileRoute('/_app/server/$server/settings')({
  loader: () => loadTexts('settings'),
  component: SettingsPage,
})

function SettingsPage() {
  const { t } = useTranslation('settings')
  const { server, can } = useServer()
  usePageTitle(t('title'), server.name)
  return (
    <>
      <PageHeader title={t('title')} />
      <div className="grid items-start gap-4 xl:grid-cols-2">
        {can('settings.rename') && <DetailsCard />}
        <div className="grid gap-4">
          {can('file.sftp') && <SftpCard />}
          <SupportCard />
        </div>
        {can('settings.reinstall') && (
          <div className="xl:col-span-2">
            <ReinstallCard />
          </div>
        )}
      </div>
    </>
  )
}

/** What a host asks for to find the server. */
function SupportCard() {
  const { t } = useTranslation('settings')
  const { server } = useServer()
  return (
    <Card title={t('debug')} text={t('debug_text')}>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-4 gap-y-1 text-sm">
        <dt className="text-muted">{t('strings:word.node')}</dt>
        <dd className="wrap-anywhere">{server.node}</dd>
        <dt className="text-muted">{t('id')}</dt>
        <dd className="flex min-w-0 items-center gap-1 font-mono">
          <span className="truncate">{server.uuid}</span>
          <CopyButton text={server.uuid} label={t('copy_id')} />
        </dd>
      </dl>
    </Card>
  )
}
