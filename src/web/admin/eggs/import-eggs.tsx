import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { refetchAdmin } from '../../api/admin.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextArea } from '../../components/field.tsx'
import type { Nest } from '../resources.ts'
import { type Comparison, compareDocument, fetchDocument, importDocument, orError } from './egg-documents.ts'
import { isChosenAtFirst, Outcomes, ReviewImport } from './review-import.tsx'

/** Where eggs come from: URLs and text as they were typed, and files. */
type Sources = { urls: string; files: File[]; text: string }
const noSources: Sources = { urls: '', files: [], text: '' }

/** Lists the documents of the sources, each as a step that may fail by itself. */
const stepsOf = ({ urls, files, text }: Sources, pasted: string) => [
  ...urls
    .split(/\s+/)
    .filter(Boolean)
    .map((url) => ({ name: url, read: () => fetchDocument(url) })),
  ...files.map((file) => ({
    name: file.name,
    read: async () => ({ name: file.name, text: await file.text() }),
  })),
  ...(text.trim() === '' ? [] : [{ name: pasted, read: async () => ({ name: pasted, text }) }]),
]

/** Imports eggs from URLs, files and pasted text: compares them first, and imports what the user chose. */
export function ImportEggs({ nest, onClose }: { nest: Nest; onClose: () => void }) {
  const { t } = useTranslation('admin')
  const [sources, setSources] = useState(noSources)
  const [chosen, setChosen] = useState<number[]>([])
  const failure = t('strings:failure.other')
  const comparing = useMutation({
    mutationFn: async () => {
      const comparisons: Comparison[] = []
      for (const { name, read } of stepsOf(sources, t('eggs.pasted'))) {
        const step = read().then((document) => compareDocument(nest.id, document))
        comparisons.push(await orError(name, failure, step))
      }
      return comparisons
    },
    onSuccess: (comparisons) =>
      setChosen([...comparisons.keys()].filter((at) => isChosenAtFirst(comparisons[at] as Comparison))),
  })
  const importing = useImport(nest, failure)
  const comparisons = comparing.data
  const isEmpty = stepsOf(sources, '').length === 0
  const back = () => {
    comparing.reset()
    importing.reset()
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('eggs.import_into', { name: nest.name })}
      text={t('eggs.import_text')}
      width="large"
      actions={
        <>
          {comparisons && <Button onClick={back}>{t('eggs.other_sources')}</Button>}
          <Button onClick={onClose}>{t('strings:action.close')}</Button>
          {!comparisons ? (
            <Button
              variant="primary"
              busy={comparing.isPending}
              disabled={isEmpty}
              onClick={() => comparing.mutate()}
            >
              {t('eggs.compare')}
            </Button>
          ) : (
            !importing.data && (
              <Button
                variant="primary"
                busy={importing.isPending}
                disabled={chosen.length === 0}
                onClick={() => importing.mutate(comparisons.filter((_, at) => chosen.includes(at)))}
              >
                {t('eggs.import')}
              </Button>
            )
          )}
        </>
      }
    >
      {importing.data ? (
        <Outcomes outcomes={importing.data} />
      ) : comparisons ? (
        <ReviewImport nest={nest} comparisons={comparisons} chosen={chosen} onChoose={setChosen} />
      ) : (
        <SourceFields sources={sources} onChange={setSources} />
      )}
    </Dialog>
  )
}

/** Imports documents one after the other: two may be of the same egg. */
export function useImport(nest: Pick<Nest, 'id'>, failure: string) {
  return useMutation({
    mutationFn: async (comparisons: Comparison[]) => {
      const outcomes = []
      for (const comparison of comparisons)
        outcomes.push(await orError(comparison.name, failure, importDocument(nest.id, comparison)))
      return outcomes
    },
    onSuccess: () => refetchAdmin(),
  })
}

function SourceFields({ sources, onChange }: { sources: Sources; onChange: (sources: Sources) => void }) {
  const { t } = useTranslation('admin')
  const fileId = useId()
  return (
    <div className="flex flex-col gap-4">
      <TextArea
        label={t('eggs.urls')}
        hint={t('eggs.urls_text')}
        mono
        rows={2}
        spellCheck={false}
        value={sources.urls}
        onChange={({ target }) => onChange({ ...sources, urls: target.value })}
      />
      <div className="flex flex-col gap-1.5">
        <label htmlFor={fileId} className="text-sm font-medium">
          {t('eggs.files')}
        </label>
        <input
          id={fileId}
          type="file"
          multiple
          accept=".json,.yaml,.yml"
          onChange={({ target }) => onChange({ ...sources, files: [...(target.files ?? [])] })}
          className="text-sm file:me-3 file:min-h-9 file:cursor-pointer file:rounded-control file:border file:border-line file:bg-surface file:px-3"
        />
      </div>
      <TextArea
        label={t('eggs.paste')}
        mono
        rows={5}
        spellCheck={false}
        value={sources.text}
        onChange={({ target }) => onChange({ ...sources, text: target.value })}
      />
    </div>
  )
}
