import { useTranslation } from '../../app/use-translation.ts'
import { can, type Resource, resources } from '../levels.ts'
import { type FormValues, useForm } from './resource-form.tsx'

type Level = 0 | 1 | 2 | 3
const levels = ['none', 'read', 'write'] as const

const fieldOf = (resource: Resource) => `acl.${resource}`

/** Returns the values of a form from levels, of which writing includes reading here. */
export const levelValues = (acl: Partial<Record<string, number>>): FormValues =>
  Object.fromEntries(
    resources.map((name) => [
      fieldOf(name),
      (acl[name] ?? 0) >= 2 ? 'write' : acl[name] === 1 ? 'read' : 'none',
    ]),
  )

/** Returns the levels that the API takes, from the values of a form. */
export const levelsOf = (values: FormValues): Record<string, Level> =>
  Object.fromEntries(
    resources.map((name) => {
      const level = values[fieldOf(name)]
      return [name, level === 'write' ? 3 : level === 'read' ? 1 : 0]
    }),
  )

/** Chooses a level for each resource; those above the caller's own cannot be chosen. */
export function LevelGrid() {
  const { t } = useTranslation('admin')
  const { values, set } = useForm()
  const setAll = (level: string) => {
    for (const name of resources) if (isGrantable(name, level)) set(fieldOf(name), level)
  }
  return (
    <div className="overflow-x-auto rounded-control border border-line">
      <table className="w-full text-sm">
        <caption className="sr-only">{t('keys.levels')}</caption>
        <thead className="border-b border-line text-xs text-muted">
          <tr>
            <th scope="col" className="px-3 py-2 text-start font-medium">
              {t('keys.levels')}
            </th>
            {levels.map((level) => (
              <th key={level} scope="col" className="px-1 py-1 font-medium">
                <button
                  type="button"
                  className="min-h-8 rounded-control px-2 hover:bg-raised hover:text-ink"
                  data-tooltip={t('level.all')}
                  onClick={() => setAll(level)}
                >
                  {t(`level.${level}`)}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {resources.map((name) => (
            <tr key={name}>
              <th scope="row" className="px-3 py-1.5 text-start font-normal">
                {t(`level.${name}`)}
              </th>
              {levels.map((level) => (
                <td key={level} className="text-center">
                  <input
                    type="radio"
                    name={fieldOf(name)}
                    aria-label={`${t(`level.${name}`)}: ${t(`level.${level}`)}`}
                    checked={values[fieldOf(name)] === level}
                    disabled={!isGrantable(name, level)}
                    onChange={() => set(fieldOf(name), level)}
                    className="size-4 accent-brand"
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const isGrantable = (resource: Resource, level: string) =>
  level === 'none' || can(resource, level === 'write' ? 'write' : 'read')
