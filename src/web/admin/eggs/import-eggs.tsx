import { useMutation } from '@tanstack/react-query'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { refetchAdmin } from '../../api/admin.ts'
import { asRequestError } from '../../api/error.ts'
import { send } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextArea } from '../../components/field.tsx'
import { Switch } from '../../components/switch.tsx'
import type { Egg, Nest } from '../resources.ts'

type Imported = { attributes: Egg; meta: { state: 'new' | 'updated'; warnings: string[] } }
/** What came of one document. */
type Outcome = { name: string; imported?: Imported; error?: string }

/** Imports a document, JSON or YAML, as the panel reads both. */
async function importEgg(nest: Nest, text: string, isReplacing: boolean): Promise<Imported> {
  const type = text.trimStart().startsWith('{') ? 'application/json' : 'application/yaml'
  const address = `/api/application/nests/${nest.id}/eggs/import${isReplacing ? '?replace=1' : ''}`
  const answer = await send(address, { method: 'POST', body: text, headers: { 'content-type': type } })
  return answer.json() as Promise<Imported>
}

/** Imports eggs from files, several at once, or from pasted text. */
export function ImportEggs({ nest, onClose }: { nest: Nest; onClose: () => void }) {
  const { t } = useTranslation('admin')
  const [files, setFiles] = useState<File[]>([])
  const [text, setText] = useState('')
  const [isReplacing, setReplacing] = useState(false)
  const fileId = useId()
  const importing = useMutation({
    mutationFn: async () => {
      const documents = [
        ...(await Promise.all(files.map(async (file) => ({ name: file.name, text: await file.text() })))),
        ...(text.trim() === '' ? [] : [{ name: t('eggs.pasted'), text }]),
      ]
      const outcomes: Outcome[] = []
      for (const { name, text } of documents) {
        outcomes.push(
          await importEgg(nest, text, isReplacing).then(
            (imported) => ({ name, imported }),
            (error: unknown) => ({
              name,
              error: asRequestError(error)?.message || t('strings:failure.other'),
            }),
          ),
        )
      }
      return outcomes
    },
    onSuccess: () => refetchAdmin(),
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('eggs.import_into', { name: nest.name })}
      text={t('eggs.import_text')}
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.close')}</Button>
          <Button
            variant="primary"
            busy={importing.isPending}
            disabled={files.length === 0 && text.trim() === ''}
            onClick={() => importing.mutate()}
          >
            {t('eggs.import')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <div className="flex flex-col gap-1.5">
          <label htmlFor={fileId} className="text-sm font-medium">
            {t('eggs.files')}
          </label>
          <input
            id={fileId}
            type="file"
            multiple
            accept=".json,.yaml,.yml"
            onChange={({ target }) => setFiles([...(target.files ?? [])])}
            className="text-sm file:mr-3 file:min-h-9 file:cursor-pointer file:rounded-control file:border file:border-line file:bg-surface file:px-3"
          />
        </div>
        <TextArea
          label={t('eggs.paste')}
          mono
          rows={5}
          spellCheck={false}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Switch
          label={t('eggs.replace')}
          hint={t('eggs.replace_text')}
          checked={isReplacing}
          onChange={setReplacing}
        />
        {importing.data && <Outcomes outcomes={importing.data} />}
      </div>
    </Dialog>
  )
}

function Outcomes({ outcomes }: { outcomes: Outcome[] }) {
  const { t } = useTranslation('admin')
  return (
    <ul role="status" className="flex flex-col gap-2 text-sm">
      {outcomes.map(({ name, imported, error }) => (
        <li key={name} className="flex items-start gap-2">
          {imported ? (
            <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
          ) : (
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
          )}
          <span className="min-w-0 wrap-anywhere">
            {imported
              ? t(`eggs.imported_${imported.meta.state}`, { name: imported.attributes.name })
              : `${name}: ${error}`}
            {imported?.meta.warnings.map((warning) => (
              <span key={warning} className="block text-warn">
                {warning}
              </span>
            ))}
          </span>
        </li>
      ))}
    </ul>
  )
}
