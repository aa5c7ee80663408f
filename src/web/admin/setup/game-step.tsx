import { useMutation, useQuery } from '@tanstack/react-query'
import { Boxes, CircleCheck } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend, refetchAdmin } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { buttonStyle } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { EmptyState, Loaded } from '../../components/states.tsx'
import { toastError } from '../../components/toast.tsx'
import { AdminLink, linkStyle, useAdminNavigate } from '../admin-link.tsx'
import { relatedRows, type Egg, type Nest, type PageOf, type Setup } from '../resources.ts'
import { StepFooter } from './step-parts.tsx'
import { pathAfter } from './steps.ts'

/** Which game the first server runs: one of the eggs that are there. */
export function GameStep({ setup }: { setup: Setup }) {
  const { t } = useTranslation('admin')
  const query = useQuery({
    ...adminQuery<PageOf<Nest>>('/nests', { include: 'eggs', per_page: 100 }),
    select: (list: PageOf<Nest>) =>
      rowsOf(list)
        .map((nest) => ({ nest, eggs: relatedRows(nest.relationships?.eggs) }))
        .filter(({ eggs }) => eggs.length > 0),
  })
  return (
    <>
      <Loaded query={query}>
        {(nests) =>
          nests.length === 0 ? (
            <EmptyState icon={Boxes} title={t('setup.no_games')}>
              <AdminLink to="nests" className={buttonStyle('primary')}>
                {t('setup.import_games')}
              </AdminLink>
            </EmptyState>
          ) : (
            <div className="flex flex-col gap-6">
              {nests.map(({ nest, eggs }) => (
                <NestGames key={nest.id} nest={nest} eggs={eggs} setup={setup} />
              ))}
              <p className="text-sm">
                <AdminLink to="nests" className={linkStyle}>
                  {t('setup.import_games')}
                </AdminLink>
              </p>
            </div>
          )
        }
      </Loaded>
      <StepFooter setup={setup} step="game" />
    </>
  )
}

function NestGames({ nest, eggs, setup }: { nest: Nest; eggs: readonly Egg[]; setup: Setup }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  const choosing = useMutation({
    mutationFn: (egg: Egg) => adminSend('PATCH', '/setup', { egg_id: egg.id, steps: { game: 'done' } }),
    onSuccess: async () => {
      await refetchAdmin()
      navigate(pathAfter(setup, 'game'))
    },
    onError: (error) => toastError(error, t('strings:failure.other')),
  })
  return (
    <section aria-label={nest.name}>
      <h2 className="pb-2 text-sm font-semibold text-muted">{nest.name}</h2>
      <div className="grid gap-2 sm:grid-cols-2">
        {eggs.map((egg) => (
          <button
            key={egg.id}
            type="button"
            aria-pressed={egg.id === setup.egg_id}
            disabled={choosing.isPending}
            onClick={() => choosing.mutate(egg)}
            className={classNames(
              'flex min-h-16 items-start gap-3 rounded-card border p-3 text-start',
              egg.id === setup.egg_id
                ? 'border-brand bg-brand-soft'
                : 'border-line bg-surface enabled:hover:bg-raised',
            )}
          >
            <span className="min-w-0 flex-1">
              <span className="block text-sm font-medium wrap-anywhere">{egg.name}</span>
              {egg.description && (
                <span className="mt-0.5 line-clamp-2 block text-sm text-muted">{egg.description}</span>
              )}
            </span>
            {egg.id === setup.egg_id && (
              <CircleCheck aria-hidden className="size-5 shrink-0 text-brand-text" />
            )}
          </button>
        ))}
      </div>
    </section>
  )
}
