import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { changeImage } from '../../api/startup.ts'
import { Card } from '../../components/card.tsx'
import { FormError, SelectField } from '../../components/field.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'

/** Chooses one of the Docker images of the egg. An image set by an administrator is read-only. */
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
  const isCustom = !Object.values(images).includes(current)
  const shown = choosing.isPending ? choosing.variables : current
  return (
    <Card title={t('image')} text={isCustom ? t('image_foreign') : t('image_text')}>
      {can('startup.docker-image') && !isCustom ? (
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
