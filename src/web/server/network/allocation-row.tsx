import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Star, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import {
  allocationsKey,
  changeAllocationNotes,
  makeAllocationPrimary,
  removeAllocation,
} from '../../api/network.ts'
import type { Allocation } from '../../api/resources.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, IconButton } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { toastError } from '../../components/toast.tsx'
import { allocationAddress } from '../addresses.ts'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'

/** An allocation with its notes and actions. */
export function AllocationRow({ allocation }: { allocation: Allocation }) {
  const { t } = useTranslation('network')
  const { can } = useServer()
  const address = allocationAddress(allocation)
  return (
    <li className="grid items-center gap-x-4 gap-y-3 px-4 py-3 md:grid-cols-[minmax(12rem,1fr)_minmax(12rem,2fr)_auto]">
      <div className="min-w-0">
        <p className="flex min-w-0 items-center gap-1 font-mono text-sm">
          <PrivateText text={address} className="truncate" />
          <CopyButton text={address} label={t('copy', { port: allocation.port })} />
        </p>
        {allocation.ip_alias && (
          <p className="font-mono text-xs text-muted">
            <PrivateText text={allocation.ip} />
          </p>
        )}
      </div>
      <Notes allocation={allocation} />
      <div className="flex items-center justify-end gap-1">
        {allocation.is_default ? <Badge tone="brand">{t('primary')}</Badge> : null}
        {!allocation.is_default && can('allocation.update') && <PrimaryButton allocation={allocation} />}
        {!allocation.is_default && can('allocation.delete') && <RemoveButton allocation={allocation} />}
      </div>
    </li>
  )
}

/** Saves on blur and on Enter; restores the old notes when that fails. */
function Notes({ allocation }: { allocation: Allocation }) {
  const { t } = useTranslation('network')
  const { id, server, can } = useServer()
  const queries = useQueryClient()
  const [notes, setNotes] = useState(allocation.notes ?? '')
  const saving = useMutation({
    mutationFn: () => changeAllocationNotes(id, allocation.id, notes),
    onSettled: () => queries.invalidateQueries({ queryKey: allocationsKey(id) }),
  })
  const save = () => {
    if (notes !== (allocation.notes ?? '')) saving.mutate()
  }
  if (!can('allocation.update')) return <p className="text-sm wrap-anywhere text-muted">{allocation.notes}</p>
  const requestError = asRequestError(saving.error)
  return (
    <TextField
      label={t('notes_of', { port: allocation.port })}
      hideLabel
      placeholder={t('notes')}
      value={notes}
      maxLength={256}
      disabled={isBlocked(server)}
      error={
        requestError
          ? (requestError.fieldError('notes') ?? (requestError.message || t('notes_failed')))
          : undefined
      }
      onChange={(event) => setNotes(event.target.value)}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') setNotes(allocation.notes ?? '')
      }}
    />
  )
}

function PrimaryButton({ allocation }: { allocation: Allocation }) {
  const { t } = useTranslation('network')
  const { id, server } = useServer()
  const queries = useQueryClient()
  const key = allocationsKey(id)
  const promotion = useMutation({
    mutationFn: () => makeAllocationPrimary(id, allocation.id),
    onMutate: async () => {
      await queries.cancelQueries({ queryKey: key })
      const before = queries.getQueryData<Allocation[]>(key)
      queries.setQueryData<Allocation[]>(key, (rows) =>
        rows?.map((row) => ({ ...row, is_default: row.id === allocation.id })),
      )
      return before
    },
    onError: (error, _variables, before) => {
      queries.setQueryData(key, before)
      toastError(error, t('primary_failed'))
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['server', id] }),
  })
  return (
    <Button icon={Star} variant="quiet" disabled={isBlocked(server)} onClick={() => promotion.mutate()}>
      {t('make_primary')}
    </Button>
  )
}

function RemoveButton({ allocation }: { allocation: Allocation }) {
  const { t } = useTranslation('network')
  const { id, server } = useServer()
  const queries = useQueryClient()
  const [isConfirming, setConfirming] = useState(false)
  const removing = useMutation({
    mutationFn: () => removeAllocation(id, allocation.id),
    onSuccess: () => setConfirming(false),
    onSettled: () => queries.invalidateQueries({ queryKey: allocationsKey(id) }),
  })
  return (
    <>
      <IconButton
        icon={Trash2}
        label={t('remove', { port: allocation.port })}
        disabled={isBlocked(server)}
        onClick={() => setConfirming(true)}
      />
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
        title={t('remove', { port: allocation.port })}
        text={t('remove_text')}
        action={t('strings:action.remove')}
        busy={removing.isPending}
        error={removing.error}
        onConfirm={() => removing.mutate()}
      />
    </>
  )
}
