import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery } from '../../api/admin.ts'
import { Switch } from '../../components/switch.tsx'
import { readRules } from '../../server/startup/variable-rules.ts'
import { fetchEggs } from '../form/choice-sources.ts'
import { SelectInput, TextInput } from '../form/fields.tsx'
import { type FormValues, useFormField } from '../form/resource-form.tsx'
import { relatedRows, type Egg, type EggVariable, type Item } from '../resources.ts'

/** Prefix of the fields of variables in the form and in the errors of the API. */
const variablePrefix = 'environment.'

/** An egg by its id, with its variables; the API needs its nest, which is looked up. */
export function useEgg(id: string) {
  const eggs = useQuery({
    queryKey: ['admin', 'eggs'],
    queryFn: ({ signal }) => fetchEggs(signal),
    staleTime: 60_000,
  })
  const nest = eggs.data?.find(({ egg }) => String(egg.id) === id)?.nest.id
  return useQuery({
    ...adminQuery<Item<Egg>>(`/nests/${nest}/eggs/${id}`, { include: 'variables' }),
    enabled: id !== '' && nest !== undefined,
    select: ({ attributes }) => attributes,
  })
}

export const variablesOf = (egg: Egg): EggVariable[] => relatedRows(egg.relationships?.variables)

/** Returns the values of the form that an egg begins with. */
export const eggValues = (egg: Egg): FormValues => ({
  docker_image: egg.docker_image,
  startup: egg.startup,
  ...Object.fromEntries(
    variablesOf(egg).map(({ env_variable: name, default_value: value }) => [
      `${variablePrefix}${name}`,
      value ?? '',
    ]),
  ),
})

/** Returns the environment that the API takes, from the values of a form. */
export const environmentOf = (values: FormValues, egg: Egg): Record<string, string> =>
  Object.fromEntries(
    variablesOf(egg).map(({ env_variable: name }) => [
      name,
      String(values[`${variablePrefix}${name}`] ?? ''),
    ]),
  )

/** A field for each variable of the egg, which fits its rules. */
export const VariableFields = ({ egg }: { egg: Egg }) =>
  variablesOf(egg).map((variable) => <VariableField key={variable.id} variable={variable} />)

function VariableField({ variable }: { variable: EggVariable }) {
  const { t } = useTranslation('startup')
  const name = `${variablePrefix}${variable.env_variable}`
  const { value, set, error } = useFormField(name)
  const rules = readRules(variable.rules)
  const limits = rules.hints.map((hint) => t(`rule.${hint.name}`, { a: hint.values[0], b: hint.values[1] }))
  const hint = [variable.description, ...limits].filter(Boolean).join(' ')
  const shared = { name, label: variable.name, hint }
  if (rules.kind === 'choice') {
    const choices = [...new Set([...rules.choices, String(value)])]
    return <SelectInput {...shared} choices={choices.map((choice) => [choice, choice])} />
  }
  if (rules.kind === 'switch')
    return <VariableSwitch {...shared} value={String(value)} set={set} error={error} />
  return (
    <TextInput {...shared} type={rules.kind === 'number' ? 'number' : 'text'} isRequired={rules.isRequired} />
  )
}

/** Variables are texts: a switch writes `1` and `0`, or `true` and `false` where the variable has those. */
function VariableSwitch({
  label,
  hint,
  value,
  set,
  error,
}: {
  label: string
  hint: string
  value: string
  set: (value: string) => void
  error: string | undefined
}) {
  const [on, off] = value === 'true' || value === 'false' ? ['true', 'false'] : ['1', '0']
  return (
    <div>
      <Switch
        label={label}
        hint={hint}
        checked={value === '1' || value === 'true'}
        onChange={(checked) => set((checked ? on : off) as string)}
      />
      {error && (
        <p role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
    </div>
  )
}
