import { useTranslation } from '../app/use-translation.ts'
import { formatDateTime, formatRelative } from '../app/formats.ts'

type TextKey =
  | 'passkeys.used'
  | 'identities.used'
  | 'api_keys.used'
  | 'api_keys.created'
  | 'ssh_keys.created'
  | 'sessions.active'

/** Shows a text of the account with a relative time; the exact time is its tooltip. */
export function TextWithTime({ text, at }: { text: TextKey; at: string }) {
  const { t } = useTranslation('account')
  return (
    <time dateTime={at} title={formatDateTime(at)}>
      {t(text, { date: formatRelative(at) })}
    </time>
  )
}
