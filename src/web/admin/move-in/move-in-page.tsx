import { useQuery } from '@tanstack/react-query'
import { useLoadedTexts, useTranslation } from '../../app/use-translation.ts'
import { adminQuery } from '../../api/admin.ts'
import { asRequestError } from '../../api/error.ts'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Loaded, Skeleton } from '../../components/states.tsx'
import { AdminPage } from '../admin-page.tsx'
import type { Item, MoveIn } from '../resources.ts'
import { busyStages } from './move-stages.ts'
import { MoveSteps } from './move-steps.tsx'
import { MoveView } from './move-view.tsx'

const pollIntervalMs = 1500

/** Moves another panel in: upload of a dump, check, move, result. What runs goes on without the page. */
export function MoveInPage() {
  const { t } = useTranslation('admin')
  const areTextsThere = useLoadedTexts('moving')
  const query = useQuery({
    ...adminQuery<Item<MoveIn>>('/move-in'),
    refetchInterval: ({ state }) => {
      const stage = state.data?.attributes.stage
      return stage && busyStages.includes(stage) ? pollIntervalMs : false
    },
    retry: (count, error) => !isUnavailable(error) && count < 2,
  })
  return (
    <AdminPage title={t('nav.move_in')} text={areTextsThere && t('moving:text')}>
      {!areTextsThere ? (
        <Skeleton rows={3} />
      ) : isUnavailable(query.error) ? (
        <Unavailable />
      ) : (
        <Loaded query={query} skeleton={<Skeleton rows={3} />}>
          {({ attributes }) => (
            <div className="flex max-w-4xl flex-col gap-4">
              <MoveSteps move={attributes} />
              <MoveView move={attributes} />
            </div>
          )}
        </Loaded>
      )}
    </AdminPage>
  )
}

const isUnavailable = (error: unknown): boolean =>
  asRequestError(error)?.entries[0]?.meta?.reason === 'move_in_needs_node'

const command = 'npm run panel -- import:pterodactyl --dump panel.sql.gz --env old.env --check'

/** Says where the panel has no disk for a dump, and how to move in there. */
function Unavailable() {
  const { t } = useTranslation('moving')
  return (
    <Card title={t('unavailable.title')} text={t('unavailable.text')} className="max-w-4xl">
      <div className="flex items-start gap-2 rounded-control bg-raised py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 py-2 text-xs wrap-anywhere">{command}</code>
        <CopyButton text={command} />
      </div>
    </Card>
  )
}
