import { useTranslation } from '../../app/use-translation.ts'
import { Badge } from '../../components/badge.tsx'
import { eggChoices, nodeChoices } from '../form/choice-sources.ts'
import { LongTextInput, TextInput, ToggleInput } from '../form/fields.tsx'
import { idsOf, idsText, PickManyInput } from '../form/pick-many-input.tsx'
import type { FormValues } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import { type Mount, relatedRows } from '../resources.ts'

/** Eggs are chosen by their nests. */
const canChooseEggs = () => can('eggs', 'write') && can('nests', 'read')
const canChooseNodes = () => can('nodes', 'write')

/** Returns the values of the form of a mount, or of a new one. */
export const mountValues = (mount: Mount | null): FormValues => ({
  name: mount?.name ?? '',
  description: mount?.description ?? '',
  source: mount?.source ?? '',
  target: mount?.target ?? '',
  read_only: mount?.read_only ?? true,
  user_mountable: mount?.user_mountable ?? false,
  ...(canChooseEggs() ? { eggs: idsText(relatedRows(mount?.relationships?.eggs)) } : {}),
  ...(canChooseNodes() ? { nodes: idsText(relatedRows(mount?.relationships?.nodes)) } : {}),
})

/** Returns the body that saves the values; lists that the caller may not change are left out. */
export const mountBody = ({ eggs, nodes, ...values }: FormValues) => ({
  ...values,
  ...(eggs === undefined ? {} : { eggs: idsOf(eggs) }),
  ...(nodes === undefined ? {} : { nodes: idsOf(nodes) }),
})

/** The fields of a mount. */
export function MountFields() {
  const { t } = useTranslation('admin')
  return (
    <>
      <TextInput name="name" isRequired />
      <LongTextInput name="description" rows={2} />
      <TextInput name="source" isMono isRequired placeholder="/mnt/shared" />
      <TextInput name="target" isMono isRequired placeholder="/home/container/shared" />
      <ToggleInput name="read_only" />
      <ToggleInput name="user_mountable" />
      {canChooseEggs() && (
        <PickManyInput name="eggs" label={t('level.eggs')} hint={t('mounts.eggs_text')} source={eggChoices} />
      )}
      {canChooseNodes() && (
        <PickManyInput
          name="nodes"
          label={t('nav.nodes')}
          hint={t('mounts.nodes_text')}
          source={nodeChoices}
        />
      )}
    </>
  )
}

/** Where a mount leads, and whether servers may write there. */
export function MountPaths({ mount }: { mount: Mount }) {
  const { t } = useTranslation('admin')
  return (
    <span>
      <code className="text-xs wrap-anywhere">{`${mount.source} → ${mount.target}`}</code>{' '}
      <Badge tone={mount.read_only ? 'plain' : 'warn'}>
        {t(mount.read_only ? 'mounts.read_only' : 'mounts.writable')}
      </Badge>
    </span>
  )
}
