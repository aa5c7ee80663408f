import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { asRequestError } from '../../api/error.ts'
import { shareLog } from '../../api/servers.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError } from '../../components/field.tsx'
import { useServer } from '../server-context.tsx'

/** Bytes of a log that the panel takes. */
const longestLog = 128 * 1024

/** The panel said that sharing is switched off: it is not offered again on this page. */
let isSwitchedOff = false
export const canShareLogs = (): boolean => !isSwitchedOff

/** The end of a text, as long as may be sent, from the beginning of a line. */
function endOf(text: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= longestLog) return text
  const end = new TextDecoder().decode(bytes.slice(-longestLog + 4))
  return end.slice(end.indexOf('\n') + 1)
}

/** Publishes the console's log when that is agreed to, and shows the link. */
export function ShareDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('console')
  const { id, log } = useServer()
  const share = useMutation({
    mutationFn: () => shareLog(id, endOf(log.text())),
    onError: (error) => {
      if (asRequestError(error)?.status === 403) isSwitchedOff = true
    },
  })
  const url = share.data?.url
  const isOff = asRequestError(share.error)?.status === 403
  return (
    <Dialog
      open
      onOpenChange={onClose}
      width="small"
      title={url ? t('shared') : t('share')}
      text={url ? t('shared_text') : t('share_text')}
      actions={
        url || isOff ? (
          <Button onClick={onClose}>{t('strings:action.close')}</Button>
        ) : (
          <>
            <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
            <Button look="primary" busy={share.isPending} onClick={() => share.mutate()}>
              {t('share_action')}
            </Button>
          </>
        )
      }
    >
      <FormError error={share.error} />
      {url && <SharedLink url={url} />}
    </Dialog>
  )
}

function SharedLink({ url }: { url: string }) {
  const isWeb = /^https?:$/.test(URL.parse(url)?.protocol ?? '')
  return (
    <p className="flex items-center gap-2 text-sm">
      {isWeb ? (
        <a
          href={url}
          target="_blank"
          rel="noopener noreferrer"
          className="min-w-0 wrap-anywhere text-brand-text underline"
        >
          {url}
        </a>
      ) : (
        <span className="min-w-0 wrap-anywhere">{url}</span>
      )}
      <CopyButton text={url} />
    </p>
  )
}
