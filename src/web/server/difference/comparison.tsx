import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { fileBytes } from '../../api/files.ts'
import { Loaded, Skeleton } from '../../components/states.tsx'
import { readText } from '../editor/text-file.ts'
import { useServer } from '../server-context.tsx'
import { DifferenceTable } from './difference-table.tsx'

/** Shows how a text differs from the file that it would replace. */
export function Comparison({
  path,
  mine,
  mineTitle,
}: {
  path: string
  /** The text, or the file of this computer. */
  mine: string | File
  mineTitle: string
}) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const texts = useQuery({
    queryKey: ['comparison', id, path],
    queryFn: async ({ signal }) => ({
      theirs: readText(await fileBytes(id, path, signal))?.text ?? null,
      mine: typeof mine === 'string' ? mine : (readText(await mine.arrayBuffer())?.text ?? null),
    }),
    // The panel records each reading.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  return (
    <Loaded query={texts} skeleton={<Skeleton rows={1} className="h-64" />}>
      {({ theirs, mine: own }) =>
        theirs === null || own === null ? (
          <p className="rounded-control bg-info-soft px-3 py-2 text-sm text-info">{t('difference.binary')}</p>
        ) : (
          <DifferenceTable
            before={theirs}
            after={own}
            titles={{ before: t('difference.on_server'), after: mineTitle }}
          />
        )
      }
    </Loaded>
  )
}
