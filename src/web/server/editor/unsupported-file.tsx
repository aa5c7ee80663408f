import { Link } from '@tanstack/react-router'
import { FileQuestion, FileWarning, FileX } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { buttonStyle } from '../../components/button.tsx'
import { EmptyState } from '../../components/states.tsx'
import { useServer } from '../server-context.tsx'

const icons = {
  binary: FileWarning,
  packed: FileWarning,
  large: FileWarning,
  special: FileWarning,
  missing: FileX,
  folder: FileQuestion,
}

/** Shows why a file cannot be edited as text. */
export function UnsupportedFile({ kind, file }: { kind: keyof typeof icons; file: string }) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  return (
    <EmptyState icon={icons[kind]} title={t(`refusal.${kind}`)} text={t(`refusal.${kind}_text`)}>
      {kind === 'folder' && (
        <Link
          to="/server/$server/files"
          params={{ server: id }}
          search={{ directory: file }}
          className={buttonStyle('primary')}
        >
          {t('open_folder')}
        </Link>
      )}
    </EmptyState>
  )
}
