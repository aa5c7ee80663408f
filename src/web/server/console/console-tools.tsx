import {
  AArrowDown,
  AArrowUp,
  Copy,
  Download,
  Ear,
  Eraser,
  EllipsisVertical,
  Funnel,
  Search,
  Share2,
  TextWrap,
} from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { IconButton } from '../../components/button.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../components/menu.tsx'
import { saveFile } from '../../components/save-file.ts'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import type { ConsoleOptions } from './console-panel.tsx'
import { canShareLogs, ShareDialog } from './share-dialog.tsx'
import type { LogTerminal } from './terminal.ts'

type Props = {
  options: ConsoleOptions
  terminal: LogTerminal | null
  onFind: () => void
  isFiltering: boolean
  onFilter: () => void
}

/** The toolbar of the console. */
export function ConsoleTools({ options, terminal, onFind, isFiltering, onFilter }: Props) {
  const { t } = useTranslation('console')
  const { id, log, can, offers } = useServer()
  const [sharing, setSharing] = useState(false)
  const copy = useCopy()
  const { larger, smaller } = options
  return (
    <div role="toolbar" aria-label={t('tools')} className="flex items-center">
      <IconButton icon={Search} label={t('find')} aria-keyshortcuts="Control+F" onClick={onFind} />
      <IconButton icon={Funnel} label={t('filter.label')} aria-pressed={isFiltering} onClick={onFilter} />
      <IconButton icon={Copy} label={t('copy')} onClick={() => copy(terminal?.selection() || log.text())} />
      <Menu trigger={<IconButton icon={EllipsisVertical} label={t('more')} />}>
        <MenuItem icon={Copy} onSelect={() => copy(log.text())}>
          {t('copy_all')}
        </MenuItem>
        <MenuItem
          icon={Download}
          onSelect={() => saveFile(`${id}-${fileTime()}.log`, 'text/plain', `${log.text()}\n`)}
        >
          {t('download')}
        </MenuItem>
        <MenuItem icon={Eraser} onSelect={() => log.clear()}>
          {t('clear')}
        </MenuItem>
        {can('websocket.connect') && offers.console_share && canShareLogs() && (
          <MenuItem icon={Share2} onSelect={() => setSharing(true)}>
            {t('share')}
          </MenuItem>
        )}
        <MenuSeparator />
        <MenuItem
          icon={AArrowUp}
          disabled={larger === undefined}
          onSelect={() => larger && options.setFontSize(larger)}
        >
          {t('larger')}
        </MenuItem>
        <MenuItem
          icon={AArrowDown}
          disabled={smaller === undefined}
          onSelect={() => smaller && options.setFontSize(smaller)}
        >
          {t('smaller')}
        </MenuItem>
        <MenuItem icon={TextWrap} onSelect={() => options.setWraps(!options.terminal.wraps)}>
          {options.terminal.wraps ? t('wrap.off') : t('wrap.on')}
        </MenuItem>
        <MenuItem icon={Ear} onSelect={() => options.setScreenReader(!options.terminal.hasScreenReader)}>
          {options.terminal.hasScreenReader ? t('read.off') : t('read.on')}
        </MenuItem>
      </Menu>
      {sharing && <ShareDialog onClose={() => setSharing(false)} />}
    </div>
  )
}

/** Returns the time as it can stand in the name of a file. */
const fileTime = () => new Date().toISOString().slice(0, 19).replaceAll(':', '-')

function useCopy(): (text: string) => void {
  const { t } = useTranslation()
  return (text) => {
    navigator.clipboard.writeText(text).then(
      () => toast(t('action.copied')),
      () => toast(t('clipboard.failed')),
    )
  }
}
