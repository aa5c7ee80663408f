import i18next from 'i18next'
import { type ReactNode, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { Card } from '../../components/card.tsx'
import { classNames } from '../../components/class-names.ts'
import { controlStyle, Field, SelectField, TextArea, TextField } from '../../components/field.tsx'
import { Switch } from '../../components/switch.tsx'
import { type ChoiceSource, Picker } from './picker.tsx'
import { useFormField } from './resource-form.tsx'

type InputProps = {
  /** Name of the field in the API. */
  name: string
  /** Without it the text `field.<name>`. */
  label?: string
  hint?: ReactNode
  isRequired?: boolean
  className?: string
}

/** Returns label and help text of a field: those of its name, unless the form has its own. */
function useFieldTexts({ name, label, hint }: InputProps) {
  const { t } = useTranslation('admin')
  const key = name.replaceAll('.', '_')
  const ownHint = i18next.exists(`admin:hint.${key}`) ? t(`hint.${key}`) : undefined
  return { label: label ?? t(`field.${key}`), hint: hint ?? ownHint }
}

type TextInputProps = InputProps & {
  type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'datetime-local'
  isMono?: boolean
  placeholder?: string
}

export function TextInput({ isMono, type = 'text', placeholder, ...props }: TextInputProps) {
  const { value, set, error } = useFormField(props.name)
  return (
    <TextField
      {...useFieldTexts(props)}
      type={type === 'number' ? 'text' : type}
      inputMode={type === 'number' ? 'numeric' : undefined}
      placeholder={placeholder}
      className={classNames(props.className, isMono && '[&_input]:font-mono')}
      error={error}
      required={props.isRequired}
      autoComplete={type === 'password' ? 'new-password' : 'off'}
      spellCheck={false}
      value={String(value)}
      onChange={({ target }) => set(target.value)}
    />
  )
}

export function LongTextInput({
  rows = 3,
  isMono,
  ...props
}: InputProps & { rows?: number; isMono?: boolean }) {
  const { value, set, error } = useFormField(props.name)
  return (
    <TextArea
      {...useFieldTexts(props)}
      mono={isMono ?? false}
      rows={rows}
      className={props.className}
      error={error}
      spellCheck={!isMono}
      value={String(value)}
      onChange={({ target }) => set(target.value)}
    />
  )
}

export function ToggleInput(props: InputProps) {
  const { value, set, error } = useFormField(props.name)
  const texts = useFieldTexts(props)
  return (
    <div className={classNames('flex flex-col gap-1', props.className)}>
      <Switch {...texts} checked={value === true} onChange={set} />
      {error && (
        <p role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
    </div>
  )
}

export function SelectInput({
  choices,
  ...props
}: InputProps & { choices: readonly (readonly [value: string, text: string])[] }) {
  const { value, set, error } = useFormField(props.name)
  return (
    <SelectField
      {...useFieldTexts(props)}
      className={props.className}
      error={error}
      value={String(value)}
      onChange={({ target }) => set(target.value)}
    >
      {choices.map(([choice, text]) => (
        <option key={choice} value={choice}>
          {text}
        </option>
      ))}
    </SelectField>
  )
}

/** Chooses a resource by search. */
export function PickInput({
  source,
  onPick,
  ...props
}: InputProps & { source: ChoiceSource; onPick?: (id: string) => void }) {
  const { value, set, error } = useFormField(props.name)
  const change = (id: string) => {
    set(id)
    onPick?.(id)
  }
  return (
    <Picker
      {...useFieldTexts(props)}
      source={source}
      isRequired={props.isRequired ?? false}
      className={props.className ?? ''}
      error={error}
      value={String(value)}
      onChange={change}
    />
  )
}

const sizeUnits = [
  ['MiB', 1],
  ['GiB', 1024],
  ['TiB', 1024 ** 2],
] as const

/** Returns the largest unit in which an amount of MiB is a whole number. */
const unitOf = (mebibytes: number) =>
  sizeUnits.findLast(([, size]) => mebibytes > 0 && mebibytes % size === 0)?.[0] ?? 'MiB'

/** An amount of memory or disk, kept in MiB, written with a unit. */
export function SizeInput(props: InputProps) {
  const { value, set, error } = useFormField(props.name)
  const { label, hint } = useFieldTexts(props)
  const { t } = useTranslation('admin')
  const [unit, setUnit] = useState<string>(unitOf(Number(value)))
  const factor = sizeUnits.find(([name]) => name === unit)?.[1] ?? 1
  const amount = Number(value)
  const isAmount = value !== '' && Number.isFinite(amount)
  const shown = isAmount && amount > 0 ? String(amount / factor) : String(value)
  const write = (text: string) => {
    const number = Number(text.replace(',', '.'))
    set(
      text.trim() === '' || !Number.isFinite(number) || number <= 0
        ? text
        : String(Math.round(number * factor)),
    )
  }
  const changeUnit = (next: string) => {
    const nextFactor = sizeUnits.find(([name]) => name === next)?.[1] ?? 1
    if (isAmount && amount > 0) set(String((amount / factor) * nextFactor))
    setUnit(next)
  }
  return (
    <Field label={label} hint={hint} error={error} className={props.className ?? ''}>
      {(control) => (
        <div className="grid grid-cols-[minmax(0,1fr)_5.5rem] gap-1.5">
          <input
            {...control}
            inputMode="decimal"
            required={props.isRequired}
            autoComplete="off"
            value={shown}
            onChange={({ target }) => write(target.value)}
            className={controlStyle}
          />
          <select
            aria-label={t('form.unit', { name: label })}
            value={unit}
            onChange={({ target }) => changeUnit(target.value)}
            className={controlStyle}
          >
            {sizeUnits.map(([name]) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
      )}
    </Field>
  )
}

/** A part of a form with its own heading; its fields stand side by side where there is room. */
export const FormSection = ({
  title,
  text,
  children,
}: {
  title: string
  text?: string
  children: React.ReactNode
}) => (
  <Card title={title} text={text}>
    <div className="grid items-start gap-4 sm:grid-cols-2">{children}</div>
  </Card>
)

/** Makes a field of a section as wide as the section. */
export const wide = 'sm:col-span-2'
