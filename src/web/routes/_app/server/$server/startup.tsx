import { useQuery } from '@tanstack/react-query'
import { createFileRoute, Link } from '@tanstack/react-router'
import { Rocket, Wrench } from 'lucide-react'
import { useTranslation } from '../../../../app/use-translation.ts'
import { rowsOf } from '../../../../api/resources.ts'
import { startupQuery } from '../../../../api/startup.ts'
import { usePageTitle } from '../../../../app/page-title.ts'
import { site } from '../../../../app/site.ts'
import { loadTexts } from '../../../../app/texts.ts'
import { buttonStyle } from '../../../../components/button.tsx'
import { Card, PageHeader } from '../../../../components/card.tsx'
import { CopyButton } from '../../../../components/copy-button.tsx'
import { EmptyState, Loaded } from '../../../../components/states.tsx'
import { useServer } from '../../../../server/server-context.tsx'
import { ImageChoice } from '../../../../server/startup/image-choice.tsx'
import { VariableCard } from '../../../../server/startup/variable-card.tsx'

export const Route = createFileRoute('/_app/server/$server/startup')({
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(startupQuery(params.server))
    return loadTexts('startup')
  },
  component: StartupPage,
})

function StartupPage() {
  const { t } = useTranslation('startup')
  const { id, server } = useServer()
  const startup = useQuery(startupQuery(id))
  usePageTitle(t('title'), server.name)
  return (
    <>
      <PageHeader title={t('title')} actions={<AdministratorLink />} />
      <Loaded query={startup}>
        {(data) => (
          <div className="flex flex-col gap-4">
            <Card title={t('command')} actions={<CopyButton text={data.meta.startup_command} />}>
              <code className="block font-mono text-sm wrap-anywhere whitespace-pre-wrap">
                {data.meta.startup_command}
              </code>
            </Card>
            <ImageChoice images={data.meta.docker_images} />
            <section aria-label={t('variables')} className="flex flex-col gap-3">
              <h2 className="text-base font-semibold">{t('variables')}</h2>
              {data.data.length === 0 && (
                <EmptyState icon={Rocket} title={t('empty')} text={t('empty_text')} />
              )}
              <div className="grid gap-3 xl:grid-cols-2">
                {rowsOf(data).map((variable) => (
                  <VariableCard key={variable.env_variable} variable={variable} />
                ))}
              </div>
            </section>
          </div>
        )}
      </Loaded>
    </>
  )
}

/** Leads administrators who may change servers to where the command, any image and locked variables can be changed. */
function AdministratorLink() {
  const { t } = useTranslation('startup')
  const { server } = useServer()
  if (((site.acl?.servers ?? 0) & 2) === 0) return null
  return (
    <Link
      to="/admin/$"
      params={{ _splat: `servers/${server.internal_id}/startup` }}
      className={buttonStyle()}
    >
      <Wrench aria-hidden className="size-4" />
      {t('administrate')}
    </Link>
  )
}
