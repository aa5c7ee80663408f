import { FileWarning } from 'lucide-react'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatBytes } from '../../app/formats.ts'
import { EmptyState } from '../../components/states.tsx'

/** Shows an image at its size, or as large as the page allows. */
export function ImageView({ blob, name }: { blob: Blob; name: string }) {
  const { t } = useTranslation('files')
  const image = useSource(blob)
  const [measures, setMeasures] = useState<{ width: number; height: number } | 'broken' | null>(null)
  if (measures === 'broken')
    return <EmptyState icon={FileWarning} title={t('preview.none')} text={t('preview.no_image')} />
  return (
    <figure className="flex flex-col gap-2">
      <div className="flex min-h-64 items-center justify-center rounded-card border border-line bg-raised p-4">
        <img
          ref={image}
          alt={name}
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
            setMeasures({ width, height })
          }
          onError={() => setMeasures('broken')}
          className="max-h-[calc(100dvh-20rem)] min-h-0 max-w-full object-contain"
        />
      </div>
      <figcaption className="text-xs text-muted tabular-nums">
        {measures && `${t('preview.pixels', measures)} · `}
        {formatBytes(blob.size)}
      </figcaption>
    </figure>
  )
}

/** Returns a ref for an image that shows the bytes. */
function useSource(blob: Blob): RefObject<HTMLImageElement | null> {
  const image = useRef<HTMLImageElement>(null)
  useEffect(() => {
    const { current } = image
    if (!current) return
    const url = URL.createObjectURL(blob)
    current.src = url
    return () => URL.revokeObjectURL(url)
  }, [blob])
  return image
}
