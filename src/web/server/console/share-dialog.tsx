import { useMutation } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import { shareLog } from '../../api/servers.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError } from '../../components/field.tsx'
import { useServer } from '../server-context.tsx'

/** The largest log that the panel accepts. */
const maxLogBytes = 128 * 1024

/** The panel has reported that sharing is disabled, so it is not offered again on this page. */
let isSharingDisabled = false
export const canShareLogs = (): boolean => !isSharingDisabled

/** Returns the last lines of a text that fit into one request. */
function lastPart(text: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= maxLogBytes) return text
  const end = new TextDecoder().decode(bytes.slice(-maxLogBytes + 4))
  return end.slice(end.indexOf('\n') + 1)
}

/** Asks for consent, publishes the log and shows its link. */
export function ShareDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('console')
  const { id, log } = useServer()
  const share = useMutation({
    mutationFn: () => shareLog(id, lastPart(log.text())),
    onError: (error) => {
      if (asRequestError(error)?.status === 403) isSharingDisabled = true
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
            <Button variant="primary" busy={share.isPending} onClick={() => share.mutate()}>
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
