import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { Network, Plus } from 'lucide-react'
import { useTranslation } from '../../../../app/use-translation.ts'
import { addAllocation, allocationsKey, allocationsQuery } from '../../../../api/network.ts'
import type { Server } from '../../../../api/resources.ts'
import { usePageTitle } from '../../../../app/page-title.ts'
import { loadTexts } from '../../../../app/texts.ts'
import { Button } from '../../../../components/button.tsx'
import { PageHeader, RowList } from '../../../../components/card.tsx'
import { Meter } from '../../../../components/meter.tsx'
import { EmptyState, Loaded } from '../../../../components/states.tsx'
import { toast, toastError } from '../../../../components/toast.tsx'
import { AllocationRow } from '../../../../server/network/allocation-row.tsx'
import { useServer } from '../../../../server/server-context.tsx'
import { isBlocked } from '../../../../server/server-state.ts'

export const Route = createFileRoute('/_app/server/$server/network')({
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(allocationsQuery(params.server))
    return loadTexts('network')
  },
  component: NetworkPage,
})

function NetworkPage() {
  const { t } = useTranslation('network')
  const { id, server, can, offers } = useServer()
  const allocations = useQuery(allocationsQuery(id))
  usePageTitle(t('title'), server.name)
  const limit = server.feature_limits.allocations
  return (
    <>
      <PageHeader
        title={t('title')}
        text={t('text')}
        actions={
          allocations.data && allocations.data.length > 0 && <AddButton used={allocations.data.length} />
        }
      />
      <Loaded query={allocations}>
        {(rows) => (
          <div className="flex flex-col gap-4">
            {limit !== null && limit > 0 && (
              <div className="max-w-md">
                <Meter
                  label={t('limit')}
                  value={rows.length}
                  limit={limit}
                  text={t('used', { used: rows.length, limit })}
                />
              </div>
            )}
            {limit !== 0 && can('allocation.create') && !offers.allocations && (
              <p className="text-sm text-muted">{t('add_off')}</p>
            )}
            {rows.length === 0 ? (
              <EmptyState
                icon={Network}
                title={t('empty')}
                text={t(mayAdd(server, can, offers) ? 'empty_text' : 'empty_host')}
              >
                <AddButton used={0} />
              </EmptyState>
            ) : (
              <RowList label={t('title')}>
                {rows.map((allocation) => (
                  <AllocationRow key={allocation.id} allocation={allocation} />
                ))}
              </RowList>
            )}
          </div>
        )}
      </Loaded>
    </>
  )
}

/** Whether the user may add allocations, and the panel would. */
const mayAdd = (server: Server, can: (permission: string) => boolean, offers: { allocations: boolean }) =>
  can('allocation.create') && offers.allocations && server.feature_limits.allocations !== 0

/** Adds a free allocation of the node, when allocations are enabled for the server. */
function AddButton({ used }: { used: number }) {
  const { t } = useTranslation('network')
  const { id, server, can, offers } = useServer()
  const queries = useQueryClient()
  const adding = useMutation({
    mutationFn: () => addAllocation(id),
    onSuccess: ({ port }) => toast(t('added', { port })),
    onError: (error) => toastError(error, t('add_failed')),
    onSettled: () => queries.invalidateQueries({ queryKey: allocationsKey(id) }),
  })
  const limit = server.feature_limits.allocations
  if (!mayAdd(server, can, offers)) return null
  return (
    <Button
      variant="primary"
      icon={Plus}
      busy={adding.isPending}
      disabled={isBlocked(server) || (limit !== null && used >= limit)}
      onClick={() => adding.mutate()}
    >
      {t('add')}
    </Button>
  )
}
