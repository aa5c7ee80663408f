import { useTranslation } from '../../app/use-translation.ts'
import { formatBytes } from '../../app/formats.ts'
import { maxTextBytes } from './load-preview.ts'

/** Shows the text of a compressed file, such as an old log. */
export function TextView({ text, isCut }: { text: string; isCut: boolean }) {
  const { t } = useTranslation('files')
  return (
    <div className="flex flex-col gap-2">
      <pre
        role="region"
        aria-label={t('content')}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard scrolls it
        tabIndex={0}
        className="max-h-[calc(100dvh-20rem)] min-h-64 overflow-auto rounded-card border border-line bg-surface px-4 py-3 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere"
      >
        {text}
      </pre>
      <p className="text-xs text-muted">
        {t('preview.text')} {isCut && t('preview.cut', { size: formatBytes(maxTextBytes) })}
      </p>
    </div>
  )
}
