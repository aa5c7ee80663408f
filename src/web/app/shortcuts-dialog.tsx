import { useState } from 'react'
import { useTranslation } from './use-translation.ts'
import { Dialog } from '../components/dialog.tsx'
import { Switch } from '../components/switch.tsx'
import { areSingleKeysEnabled, setSingleKeysEnabled } from './shortcuts.ts'

const shortcuts = [
  { name: 'menu', keys: ['Ctrl', 'K'] },
  { name: 'search', keys: ['/'] },
  { name: 'servers', keys: ['g', 'h'] },
  { name: 'account', keys: ['g', 'a'] },
  { name: 'console', keys: ['g', 'c'] },
  { name: 'files', keys: ['g', 'f'] },
  { name: 'find', keys: ['Ctrl', 'F'] },
  { name: 'help', keys: ['?'] },
] as const

/** Lists the keyboard shortcuts, and turns single-key shortcuts on or off. */
export function ShortcutsDialog({
  open,
  onOpenChange,
}: {
  open: boolean
  onOpenChange: (open: boolean) => void
}) {
  const { t } = useTranslation('server')
  const [isOn, setOn] = useState(areSingleKeysEnabled)
  return (
    <Dialog open={open} onOpenChange={onOpenChange} width="small" title={t('shortcuts.title')}>
      <dl className="flex flex-col divide-y divide-line text-sm">
        {shortcuts.map(({ name, keys }) => (
          <div key={name} className="flex min-h-10 items-center justify-between gap-4">
            <dt>{t(`shortcuts.${name}`)}</dt>
            <dd className="flex gap-1">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="min-w-7 rounded-[0.25rem] border border-line-strong bg-raised px-1.5 py-0.5 text-center font-mono text-xs"
                >
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <Switch
        className="mt-4"
        label={t('shortcuts.single')}
        hint={t('shortcuts.single_hint')}
        checked={isOn}
        onChange={(on) => {
          setSingleKeysEnabled(on)
          setOn(on)
        }}
      />
    </Dialog>
  )
}
