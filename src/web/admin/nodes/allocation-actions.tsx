import { Tag, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { Button } from '../../components/button.tsx'
import { AdminAction } from '../admin-action.tsx'
import { TextInput } from '../form/fields.tsx'
import { FormDialog } from '../form/form-dialog.tsx'
import { ResourceForm } from '../form/resource-form.tsx'
import type { Selection } from '../list/selection.ts'
import type { Allocation } from '../resources.ts'

/** What can be done with the chosen allocations of a node: an alias for all, and deleting those that no server has. */
export function AllocationActions({ path, selection }: { path: string; selection: Selection<Allocation> }) {
  const { t } = useTranslation('admin')
  const [isNaming, setNaming] = useState(false)
  const free = selection.rows.filter(({ assigned }) => !assigned).map(({ id }) => id)
  const used = selection.rows.length - free.length
  return (
    <>
      <Button icon={Tag} onClick={() => setNaming(true)}>
        {t('nodes.set_alias')}
      </Button>
      <AdminAction
        icon={Trash2}
        variant="danger"
        disabled={free.length === 0}
        label={t('nodes.delete_allocations', { count: free.length })}
        run={() => adminSend('POST', `${path}/delete`, { allocations: free })}
        done={t('nodes.allocations_deleted')}
        onDone={selection.clear}
        confirm={{
          title: t('nodes.delete_allocations', { count: free.length }),
          text: t(used > 0 ? 'nodes.delete_allocations_used' : 'nodes.delete_allocations_text', {
            count: used,
          }),
        }}
      />
      {isNaming && (
        <FormDialog title={t('nodes.set_alias')} onClose={() => setNaming(false)}>
          <ResourceForm
            initial={{ alias: '' }}
            save={({ alias }) =>
              adminSend('PATCH', path, {
                allocations: selection.rows.map(({ id }) => id),
                alias: alias || null,
              })
            }
            onSaved={() => {
              setNaming(false)
              selection.clear()
            }}
          >
            <TextInput name="alias" hint={t('nodes.alias_hint')} />
          </ResourceForm>
        </FormDialog>
      )}
    </>
  )
}
