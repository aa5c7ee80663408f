import { useQuery } from '@tanstack/react-query'
import { FileWarning } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatBytes } from '../../app/formats.ts'
import { EmptyState, Loaded, Skeleton } from '../../components/states.tsx'
import type { previewOf } from '../files/entries.ts'
import { FetchFailure } from '../files/fetch-file.ts'
import { nameOf } from '../files/paths.ts'
import { useServer } from '../server-context.tsx'
import { ArchiveContents } from './archive-contents.tsx'
import { ImageView } from './image-view.tsx'
import { loadPreview, maxPreviewBytes } from './load-preview.ts'
import { TextView } from './text-view.tsx'

type PreviewProps = {
  file: string
  as: NonNullable<ReturnType<typeof previewOf>>
  /** Null when the listing does not tell it. */
  size: number | null
}

/** Shows an image, or what an archive contains, without changing anything on the server. */
export function FilePreview({ file, as, size }: PreviewProps) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const isTooLarge = size !== null && size > maxPreviewBytes[as]
  const preview = useQuery({
    queryKey: ['preview', id, file],
    queryFn: ({ signal }) => loadPreview(id, file, as, size, signal),
    enabled: !isTooLarge,
    // Each one is a download that the panel records.
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const failure = isTooLarge
    ? 'too_large'
    : preview.error instanceof FetchFailure
      ? preview.error.reason
      : null
  if (failure)
    return (
      <EmptyState
        icon={FileWarning}
        title={t('preview.none')}
        text={t(`preview.${failure}`, { size: formatBytes(maxPreviewBytes[as]) })}
      />
    )
  return (
    <Loaded query={preview} skeleton={<Skeleton rows={1} className="h-96" />}>
      {(content) => {
        if (content.kind === 'image') return <ImageView blob={content.blob} name={nameOf(file)} />
        if (content.kind === 'text' && content.text !== null)
          return <TextView text={content.text} isCut={content.isCut} />
        if (content.kind === 'archive' && content.listing)
          return <ArchiveContents listing={content.listing} />
        return <EmptyState icon={FileWarning} title={t('preview.none')} text={t('preview.no_archive')} />
      }}
    </Loaded>
  )
}
