import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Loaded } from '../../components/states.tsx'
import { eggChoices } from '../form/choice-sources.ts'
import { FormSection, LongTextInput, PickInput, SelectInput, ToggleInput, wide } from '../form/fields.tsx'
import { type FormValues, ResourceForm, useForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import type { Egg, Item, Server } from '../resources.ts'
import { environmentOf, useEgg, VariableFields } from './egg-fields.tsx'
import { currentServer } from './server-queries.ts'
import { startupValues } from './startup-values.ts'

const valuesOf = (server: Server): FormValues => ({
  ...startupValues(server),
  image: server.container.image,
  skip_scripts: false,
})

/** Egg, image, command and variables of a server. */
export function ServerStartup({ server }: { server: Server }) {
  const query = useQuery({
    ...adminQuery<Item<Server>>(`/servers/${server.id}`, { include: 'variables' }),
    select: ({ attributes }) => attributes,
  })
  return <Loaded query={query}>{(server) => <StartupForm server={server} />}</Loaded>
}

function StartupForm({ server }: { server: Server }) {
  const ownEgg = useEgg(String(server.egg))
  return (
    <Loaded query={ownEgg}>
      {(egg) => (
        <div className="flex flex-col gap-4">
          <ResolvedCommand server={server} />
          <ResourceForm
            initial={valuesOf(server)}
            fetchCurrent={currentServer(server.id, valuesOf)}
            subject={{ type: 'server', id: server.id }}
            isReadOnly={!can('servers', 'write')}
            save={(values, version) => changeStartup(server, values, egg, version)}
          >
            <StartupFields />
          </ResourceForm>
        </div>
      )}
    </Loaded>
  )
}

/** Changes the startup; the values of another egg begin with its defaults. */
const changeStartup = (server: Server, values: FormValues, egg: Egg, version: string | null) =>
  adminSend(
    'PATCH',
    `/servers/${server.id}/startup`,
    {
      egg: Number(values.egg),
      image: values.image,
      startup: values.startup,
      skip_scripts: values.skip_scripts,
      environment: Number(values.egg) === egg.id ? environmentOf(values, egg) : {},
    },
    version,
  )

function StartupFields() {
  const { t } = useTranslation('admin')
  const { values } = useForm()
  const egg = useEgg(String(values.egg)).data
  const images = Object.entries(egg?.docker_images ?? {}).map(([name, image]) => [image, name] as const)
  const current = String(values.image)
  const choices = images.some(([image]) => image === current)
    ? images
    : [[current, current] as const, ...images]
  return (
    <>
      <FormSection title={t('servers.part_startup')}>
        <PickInput name="egg" label={t('word.egg')} source={eggChoices} isRequired />
        <SelectInput name="image" choices={choices} />
        <LongTextInput name="startup" isMono rows={2} className={wide} />
        <ToggleInput name="skip_scripts" className={wide} />
      </FormSection>
      {egg && (
        <FormSection title={t('servers.variables')}>
          <VariableFields egg={egg} />
        </FormSection>
      )}
    </>
  )
}

/** Shows the command as the server runs it, with its variables filled in. */
function ResolvedCommand({ server }: { server: Server }) {
  const { t } = useTranslation('admin')
  const { startup_command: command, environment } = server.container
  const resolved = command.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) =>
    String(environment[name] ?? whole),
  )
  return (
    <Card title={t('servers.resolved')}>
      <div className="flex items-start justify-between gap-2 rounded-control bg-raised py-1 pe-1 ps-3">
        <code className="min-w-0 py-1.5 text-xs wrap-anywhere">{resolved}</code>
        <CopyButton text={resolved} />
      </div>
    </Card>
  )
}
