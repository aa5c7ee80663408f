import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { changeImage } from '../../api/startup.ts'
import { Card } from '../../components/card.tsx'
import { FormError, SelectField } from '../../components/field.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'

/** Which of the egg's images the server runs in; one that an administrator chose can only be looked at. */
export function ImageChoice({ images }: { images: Record<string, string> }) {
  const { t } = useTranslation('startup')
  const { id, server, can } = useServer()
  const queries = useQueryClient()
  const choosing = useMutation({
    mutationFn: (image: string) => changeImage(id, image),
    onSuccess: () => toast(t('saved')),
    onSettled: () => queries.invalidateQueries({ queryKey: ['server', id] }),
  })
  const current = server.docker_image
  const isForeign = !Object.values(images).includes(current)
  const shown = choosing.isPending ? choosing.variables : current
  return (
    <Card title={t('image')} text={isForeign ? t('image_foreign') : t('image_text')}>
      {can('startup.docker-image') && !isForeign ? (
        <SelectField
          label={t('image')}
          hideLabel
          value={shown}
          disabled={choosing.isPending || isBlocked(server)}
          onChange={(event) => choosing.mutate(event.target.value)}
        >
          {Object.entries(images).map(([name, image]) => (
            <option key={image} value={image}>
              {name}
            </option>
          ))}
        </SelectField>
      ) : (
        <p className="font-mono text-sm wrap-anywhere">{current}</p>
      )}
      <FormError error={choosing.error} />
    </Card>
  )
}
