import { useTranslation } from 'react-i18next'
import { formatInstant, formatRelative } from '../app/formats.ts'

type DatedKey =
  | 'passkeys.used'
  | 'identities.used'
  | 'api_keys.used'
  | 'api_keys.created'
  | 'ssh_keys.created'
  | 'sessions.active'

/** A text of the account about when something was; the exact time when it is pointed at. */
export function Dated({ text, at }: { text: DatedKey; at: string }) {
  const { t } = useTranslation('account')
  return (
    <time dateTime={at} title={formatInstant(at)}>
      {t(text, { date: formatRelative(at) })}
    </time>
  )
}
