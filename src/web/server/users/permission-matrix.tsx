import { useTranslation } from '../../app/use-translation.ts'
import type { PermissionGroups } from '../../api/subusers.ts'
import { Button } from '../../components/button.tsx'
import { Checkbox } from '../../components/switch.tsx'
import { useServer } from '../server-context.tsx'
import { type Preset, presets } from './permission-presets.ts'

type MatrixProps = {
  groups: PermissionGroups
  granted: ReadonlySet<string>
  onChange: (granted: ReadonlySet<string>) => void
  error?: string | undefined
}

const implicitPermissions = 'websocket.connect'

/** Checkboxes for every permission by group, with presets. Users cannot grant permissions they do not have. */
export function PermissionMatrix({ groups, granted, onChange, error }: MatrixProps) {
  const { t } = useTranslation('users')
  const { can } = useServer()
  const known = Object.entries(groups).flatMap(([group, { keys }]) =>
    Object.keys(keys).map((key) => `${group}.${key}`),
  )
  const choose = (wanted: readonly string[]) =>
    onChange(
      new Set(
        [...granted]
          .filter((name) => !can(name))
          .concat(
            implicitPermissions,
            wanted.filter((name) => known.includes(name) && can(name)),
          ),
      ),
    )
  return (
    <fieldset className="flex min-w-0 flex-col gap-4">
      <legend className="pb-2 text-sm font-medium">{t('permissions')}</legend>
      {error && (
        <p role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
      <div role="group" aria-label={t('presets')} className="flex flex-wrap gap-2">
        {(Object.keys(presets) as Preset[]).map((preset) => (
          <Button key={preset} onClick={() => choose(presets[preset])}>
            {t(`preset.${preset}`)}
          </Button>
        ))}
        <Button onClick={() => choose(known)}>{t('preset.everything')}</Button>
        <Button variant="quiet" onClick={() => choose([])}>
          {t('preset.nothing')}
        </Button>
      </div>
      <div className="grid gap-3 md:grid-cols-2">
        {Object.entries(groups).map(([group, { keys }]) => (
          <Group key={group} group={group} keys={Object.keys(keys)} granted={granted} onChange={onChange} />
        ))}
      </div>
    </fieldset>
  )
}

type GroupProps = Omit<MatrixProps, 'groups' | 'error'> & { group: string; keys: string[] }

function Group({ group, keys, granted, onChange }: GroupProps) {
  const { t } = useTranslation('users')
  const { can } = useServer()
  const names = keys.map((key) => `${group}.${key}`)
  const held = names.filter((name) => granted.has(name)).length
  const set = (wanted: string[], isGranted: boolean) => {
    const next = new Set(granted)
    for (const name of wanted) {
      if (!can(name) || name === implicitPermissions) continue
      if (isGranted) next.add(name)
      else next.delete(name)
    }
    onChange(next)
  }
  return (
    <div className="flex flex-col gap-2.5 rounded-card border border-line p-3">
      <Checkbox
        label={t(`group.${group}`)}
        checked={held === names.length ? true : held > 0 ? 'indeterminate' : false}
        disabled={!names.some((name) => can(name) && name !== implicitPermissions)}
        onChange={(checked) => set(names, checked)}
      />
      <div className="flex flex-col gap-2 border-s border-line ps-3.5">
        {keys.map((key) => {
          const name = `${group}.${key}`
          return (
            <Checkbox
              key={name}
              label={t(`permission.${group}.${key}`)}
              checked={granted.has(name)}
              disabled={!can(name) || name === implicitPermissions}
              onChange={(checked) => set([name], checked)}
            />
          )
        })}
      </div>
    </div>
  )
}
