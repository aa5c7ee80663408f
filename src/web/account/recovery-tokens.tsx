import { Download } from 'lucide-react'
import { useTranslation } from '../app/use-translation.ts'
import { site } from '../app/site.ts'
import { Button } from '../components/button.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { saveFile } from '../components/save-file.ts'

/** Shows the recovery tokens once, to copy or download. */
export function RecoveryTokens({ tokens, onClose }: { tokens: readonly string[]; onClose: () => void }) {
  const { t } = useTranslation('account')
  const text = `${tokens.join('\n')}\n`
  return (
    <Dialog
      open
      isShownOnce
      onOpenChange={onClose}
      title={t('two_factor.tokens')}
      text={t('two_factor.tokens_text')}
      width="small"
      actions={
        <>
          <Button
            icon={Download}
            onClick={() => saveFile(`${site.name}-recovery-tokens.txt`, 'text/plain', text)}
          >
            {t('strings:action.download')}
          </Button>
          <Button variant="primary" onClick={onClose}>
            {t('two_factor.tokens_kept')}
          </Button>
        </>
      }
    >
      <div className="flex items-start justify-between gap-3 rounded-control bg-raised p-3">
        <ul
          aria-label={t('two_factor.tokens')}
          className="grid flex-1 grid-cols-2 gap-x-4 gap-y-1 font-mono text-sm"
        >
          {tokens.map((token) => (
            <li key={token}>{token}</li>
          ))}
        </ul>
        <CopyButton text={text} label={t('two_factor.tokens_copy')} />
      </div>
    </Dialog>
  )
}
