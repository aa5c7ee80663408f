import { Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminGet, adminSend } from '../../api/admin.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, IconButton } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { AdminAction } from '../admin-action.tsx'
import { FormDialog } from '../form/form-dialog.tsx'
import { LongTextInput, TextInput, ToggleInput } from '../form/fields.tsx'
import { type FormValues, ResourceForm } from '../form/resource-form.tsx'
import { can } from '../levels.ts'
import { relatedRows, type Egg, type EggVariable, type Item } from '../resources.ts'

/** The variables of an egg; each is changed in a dialog. */
export function EggVariables({ path, variables }: { path: string; variables: EggVariable[] }) {
  const { t } = useTranslation('admin')
  const [edited, setEdited] = useState<EggVariable | 'new' | null>(null)
  return (
    <Card
      title={t('servers.variables')}
      actions={
        can('eggs', 'write') && (
          <Button icon={Plus} onClick={() => setEdited('new')}>
            {t('eggs.add_variable')}
          </Button>
        )
      }
    >
      <ul aria-label={t('servers.variables')} className="divide-y divide-line">
        {variables.map((variable) => (
          <li key={variable.id} className="flex items-start gap-3 py-2.5 text-sm">
            <div className="min-w-0 flex-1">
              <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
                <span className="font-medium wrap-anywhere">{variable.name}</span>
                <code className="text-xs text-muted">{variable.env_variable}</code>
                {!variable.user_viewable && <Badge>{t('eggs.hidden')}</Badge>}
                {variable.user_viewable && !variable.user_editable && <Badge>{t('eggs.locked')}</Badge>}
              </p>
              <p className="text-muted wrap-anywhere">{variable.description}</p>
              <code className="text-xs wrap-anywhere text-muted">{variable.rules}</code>
            </div>
            {can('eggs', 'write') && (
              <span className="flex shrink-0">
                <IconButton
                  icon={Pencil}
                  label={t('list.edit', { name: variable.name })}
                  onClick={() => setEdited(variable)}
                />
                <AdminAction
                  icon={Trash2}
                  isCompact
                  label={t('list.delete', { name: variable.name })}
                  run={() => adminSend('DELETE', `${path}/variables/${variable.id}`)}
                  confirm={{
                    title: t('confirm.delete', { name: variable.name }),
                    text: t('eggs.delete_variable_text'),
                  }}
                />
              </span>
            )}
          </li>
        ))}
      </ul>
      {edited && (
        <VariableDialog
          path={path}
          variable={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
        />
      )}
    </Card>
  )
}

const valuesOf = (variable: EggVariable | null | undefined): FormValues => ({
  name: variable?.name ?? '',
  env_variable: variable?.env_variable ?? '',
  description: variable?.description ?? '',
  default_value: variable?.default_value ?? '',
  rules: variable?.rules ?? 'required|string|max:191',
  user_viewable: variable?.user_viewable ?? true,
  user_editable: variable?.user_editable ?? true,
})

/** Fetches a variable as it is now; those of an egg have no route of their own. */
async function fetchCurrent(path: string, { id }: EggVariable): Promise<FormValues> {
  const { attributes } = await adminGet<Item<Egg>>(path, { include: 'variables' })
  return valuesOf(relatedRows(attributes.relationships?.variables).find((variable) => variable.id === id))
}

function VariableDialog({
  path,
  variable,
  onClose,
}: {
  path: string
  variable: EggVariable | null
  onClose: () => void
}) {
  const { t } = useTranslation('admin')
  return (
    <FormDialog
      title={variable ? t('list.edit', { name: variable.name }) : t('eggs.add_variable')}
      onClose={onClose}
    >
      <ResourceForm
        initial={valuesOf(variable)}
        fetchCurrent={variable ? () => fetchCurrent(path, variable) : undefined}
        subject={variable ? { type: 'egg_variable', id: variable.id } : undefined}
        save={(values) =>
          adminSend(
            variable ? 'PATCH' : 'POST',
            variable ? `${path}/variables/${variable.id}` : `${path}/variables`,
            values,
          )
        }
        onSaved={onClose}
      >
        <TextInput name="name" isRequired />
        <TextInput name="env_variable" isMono isRequired />
        <LongTextInput name="description" rows={2} />
        <TextInput name="default_value" isMono />
        <TextInput name="rules" isMono />
        <ToggleInput name="user_viewable" />
        <ToggleInput name="user_editable" />
      </ResourceForm>
    </FormDialog>
  )
}
