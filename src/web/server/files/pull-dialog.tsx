import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import { pullFile } from '../../api/files.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError, TextField } from '../../components/field.tsx'
import { Checkbox } from '../../components/switch.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { useFiles } from './files-context.tsx'

/** Asks for the address of a file that the node downloads. */
export function PullDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const { directory } = useFiles()
  const client = useQueryClient()
  const form = useId()
  const [url, setUrl] = useState('')
  const [filename, setFilename] = useState('')
  const [useHeader, setUseHeader] = useState(true)
  const [foreground, setForeground] = useState(false)
  const pull = useMutation({
    mutationFn: () =>
      pullFile(id, {
        url,
        directory,
        filename: filename.trim() === '' ? null : filename,
        use_header: useHeader,
        foreground,
      }),
    onSuccess: () => {
      toast(t(foreground ? 'pulled' : 'pull_begun'))
      onClose()
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['files', id] }),
  })
  const requestError = asRequestError(pull.error)
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('pull')}
      text={t('pull_text')}
      width="small"
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} variant="primary" busy={pull.isPending} disabled={url === ''}>
            {t('pull_action')}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          pull.mutate()
        }}
      >
        <TextField
          label={t('strings:word.address')}
          type="url"
          required
          placeholder="https://"
          value={url}
          onChange={(event) => setUrl(event.target.value)}
          error={requestError?.fieldError('url')}
          autoComplete="off"
        />
        <TextField
          label={t('pull_name')}
          hint={t('pull_name_hint')}
          value={filename}
          onChange={(event) => setFilename(event.target.value)}
          error={requestError?.fieldError('filename')}
          autoComplete="off"
          spellCheck={false}
        />
        <Checkbox label={t('pull_header')} checked={useHeader} onChange={setUseHeader} />
        <Checkbox
          label={t('pull_wait')}
          hint={t('pull_wait_hint')}
          checked={foreground}
          onChange={setForeground}
        />
        <FormError error={pull.error} fields={['url', 'filename']} />
      </form>
    </Dialog>
  )
}
