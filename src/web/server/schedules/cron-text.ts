import { useQuery } from '@tanstack/react-query'
import type { CronFields } from '../../api/schedules.ts'
import { site } from '../../app/site.ts'

/** Locale loaders for cronstrue, which has English built in. */
const localeLoaders: Record<string, () => Promise<unknown>> = {
  de: () => import('cronstrue/locales/de.min.js'),
  es: () => import('cronstrue/locales/es.min.js'),
  fr: () => import('cronstrue/locales/fr.min.js'),
  pl: () => import('cronstrue/locales/pl.min.js'),
  'pt-BR': () => import('cronstrue/locales/pt_BR.min.js'),
  ru: () => import('cronstrue/locales/ru.min.js'),
  tr: () => import('cronstrue/locales/tr.min.js'),
  'zh-CN': () => import('cronstrue/locales/zh_CN.min.js'),
}

const hasTwelveHourClock = new Intl.DateTimeFormat(site.locale, { hour: 'numeric' }).resolvedOptions().hour12

async function loadDescriber(): Promise<(expression: string) => string> {
  const [{ default: cronstrue }] = await Promise.all([import('cronstrue'), localeLoaders[site.locale]?.()])
  const locale = localeLoaders[site.locale] ? site.locale.replace('-', '_') : 'en'
  return (expression) => cronstrue.toString(expression, { locale, use24HourTimeFormat: !hasTwelveHourClock })
}

/** Returns the five fields as one expression. */
export const expressionOf = (cron: CronFields): string =>
  [cron.minute, cron.hour, cron.day_of_month, cron.month, cron.day_of_week].join(' ')

/** Describes the fields in the user's language; null when they cannot be described (yet). */
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
