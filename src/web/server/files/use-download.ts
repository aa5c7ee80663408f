import { useMutation } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { downloadUrl } from '../../api/files.ts'
import { toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'

/** Downloads a file directly from the node. */
export function useDownload() {
  const { id } = useServer()
  const { t } = useTranslation('files')
  const { mutate, isPending } = useMutation({
    mutationFn: (path: string) => downloadUrl(id, path),
    onSuccess: (url) => location.assign(url),
    onError: (error) => toastError(error, t('failed')),
  })
  return { download: mutate, isPending }
}
