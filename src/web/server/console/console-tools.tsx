import {
  AArrowDown,
  AArrowUp,
  Copy,
  Ear,
  Eraser,
  EllipsisVertical,
  Search,
  Share2,
  TextWrap,
} from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../../components/button.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../components/menu.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import type { ConsoleLook } from './console-panel.tsx'
import { canShareLogs, ShareDialog } from './share-dialog.tsx'
import type { LogTerminal } from './terminal.ts'

type Props = { look: ConsoleLook; terminal: LogTerminal | null; onFind: () => void }

/** What can be done with what the console says. */
export function ConsoleTools({ look, terminal, onFind }: Props) {
  const { t } = useTranslation('console')
  const { log, can } = useServer()
  const [sharing, setSharing] = useState(false)
  const copy = useCopy()
  const { larger, smaller } = look
  return (
    <div role="toolbar" aria-label={t('tools')} className="flex items-center">
      <IconButton icon={Search} label={t('find')} aria-keyshortcuts="Control+F" onClick={onFind} />
      <IconButton icon={Copy} label={t('copy')} onClick={() => copy(terminal?.selection() || log.text())} />
      <Menu trigger={<IconButton icon={EllipsisVertical} label={t('more')} />}>
        <MenuItem icon={Copy} onSelect={() => copy(log.text())}>
          {t('copy_all')}
        </MenuItem>
        <MenuItem icon={Eraser} onSelect={() => log.clear()}>
          {t('clear')}
        </MenuItem>
        {can('websocket.connect') && canShareLogs() && (
          <MenuItem icon={Share2} onSelect={() => setSharing(true)}>
            {t('share')}
          </MenuItem>
        )}
        <MenuSeparator />
        <MenuItem
          icon={AArrowUp}
          disabled={larger === undefined}
          onSelect={() => larger && look.setFontSize(larger)}
        >
          {t('larger')}
        </MenuItem>
        <MenuItem
          icon={AArrowDown}
          disabled={smaller === undefined}
          onSelect={() => smaller && look.setFontSize(smaller)}
        >
          {t('smaller')}
        </MenuItem>
        <MenuItem icon={TextWrap} onSelect={() => look.setWraps(!look.look.wraps)}>
          {look.look.wraps ? t('wrap.off') : t('wrap.on')}
        </MenuItem>
        <MenuItem icon={Ear} onSelect={() => look.setRead(!look.look.isRead)}>
          {look.look.isRead ? t('read.off') : t('read.on')}
        </MenuItem>
      </Menu>
      {sharing && <ShareDialog onClose={() => setSharing(false)} />}
    </div>
  )
}

function useCopy(): (text: string) => void {
  const { t } = useTranslation()
  return (text) => {
    navigator.clipboard.writeText(text).then(
      () => toast(t('action.copied')),
      () => toast(t('clipboard.failed')),
    )
  }
}
