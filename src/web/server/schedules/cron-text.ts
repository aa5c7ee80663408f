import { useQuery } from '@tanstack/react-query'
import type { CronFields } from '../../api/schedules.ts'
import { site } from '../../app/site.ts'

/** What each language needs besides English, which the describer speaks by itself. */
const languages: Record<string, () => Promise<unknown>> = {
  de: () => import('cronstrue/locales/de.min.js'),
  es: () => import('cronstrue/locales/es.min.js'),
  fr: () => import('cronstrue/locales/fr.min.js'),
  pl: () => import('cronstrue/locales/pl.min.js'),
  'pt-BR': () => import('cronstrue/locales/pt_BR.min.js'),
  ru: () => import('cronstrue/locales/ru.min.js'),
  tr: () => import('cronstrue/locales/tr.min.js'),
  'zh-CN': () => import('cronstrue/locales/zh_CN.min.js'),
}

const isTwelveHours = new Intl.DateTimeFormat(site.locale, { hour: 'numeric' }).resolvedOptions().hour12

async function loadDescriber(): Promise<(expression: string) => string> {
  const [{ default: cronstrue }] = await Promise.all([import('cronstrue'), languages[site.locale]?.()])
  const locale = languages[site.locale] ? site.locale.replace('-', '_') : 'en'
  return (expression) => cronstrue.toString(expression, { locale, use24HourTimeFormat: !isTwelveHours })
}

/** The five fields as one expression. */
export const expressionOf = (cron: CronFields): string =>
  [cron.minute, cron.hour, cron.day_of_month, cron.month, cron.day_of_week].join(' ')

/** When that is, in the reader's language; null where it cannot be said, or not yet. */
export function useCronText(cron: CronFields): string | null {
  const { data: describe } = useQuery({
    queryKey: ['cron-describer'],
    queryFn: loadDescriber,
    staleTime: Infinity,
    gcTime: Infinity,
  })
  try {
    return describe?.(expressionOf(cron)) ?? null
  } catch {
    return null
  }
}
