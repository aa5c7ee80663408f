import { useTranslation } from '../../app/use-translation.ts'
import { formatDateTime } from '../../app/formats.ts'
import { Banner } from '../../components/badge.tsx'
import type { Node } from '../resources.ts'

/** As the overview. */
const warningMs = 14 * 86_400_000

/** Says that the certificate of the daemon had ended when the node was last asked, or ends soon. */
export function CertificateBanner({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  const { certificate_ends_at: end, checked_at: checkedAt } = node.relationships?.heartbeat?.attributes ?? {}
  if (!end || !checkedAt) return null
  const leftMs = new Date(end).getTime() - new Date(checkedAt).getTime()
  if (leftMs >= warningMs) return null
  const hasEnded = leftMs <= 0
  return (
    <Banner
      tone={hasEnded ? 'bad' : 'warn'}
      title={t(hasEnded ? 'nodes.certificate_ended' : 'nodes.certificate_ending', {
        date: formatDateTime(end),
      })}
    >
      {t('nodes.certificate_text')}
    </Banner>
  )
}
