import { X } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { IconButton } from '../../components/button.tsx'
import { type ChoiceSource, Picker, useChoiceName } from './picker.tsx'
import { useFormField } from './resource-form.tsx'

/** Reads the ids that a form keeps as one text. */
export const idsOf = (value: string | boolean | undefined): number[] =>
  String(value ?? '')
    .split(',')
    .filter(Boolean)
    .map(Number)

/** Writes ids as a form keeps them. */
export const idsText = (rows: readonly { id: number }[]): string =>
  rows
    .map(({ id }) => id)
    .toSorted((one, other) => one - other)
    .join()

/** Chooses several resources by search; each stands below with a button that removes it. */
export function PickManyInput({
  name,
  label,
  hint,
  source,
}: {
  name: string
  label: string
  hint?: string
  source: ChoiceSource
}) {
  const { value, set, error } = useFormField(name)
  const ids = idsOf(value)
  const change = (chosen: number[]) => set(idsText([...new Set(chosen)].map((id) => ({ id }))))
  return (
    <div className="flex flex-col gap-2">
      <Picker
        label={label}
        source={source}
        value=""
        hint={hint}
        error={error}
        onChange={(id) => change([...ids, Number(id)])}
      />
      {ids.length > 0 && (
        <ul aria-label={label} className="flex flex-wrap gap-1.5">
          {ids.map((id) => (
            <Chosen
              key={id}
              id={id}
              source={source}
              onRemove={() => change(ids.filter((own) => own !== id))}
            />
          ))}
        </ul>
      )}
    </div>
  )
}

function Chosen({ id, source, onRemove }: { id: number; source: ChoiceSource; onRemove: () => void }) {
  const { t } = useTranslation('admin')
  const text = useChoiceName(source, String(id))
  return (
    <li className="flex items-center rounded-control bg-raised ps-3 text-sm">
      <span className="wrap-anywhere">{text}</span>
      <IconButton icon={X} label={t('picker.remove', { name: text })} onClick={onRemove} />
    </li>
  )
}
