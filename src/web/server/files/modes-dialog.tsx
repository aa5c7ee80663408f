import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { FileEntry } from '../../api/files.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Checkbox } from '../../components/switch.tsx'
import { useChangeModes } from './file-actions.ts'

/** Who, each with the digit of the mode that is his. */
const people = ['owner', 'group', 'others'] as const
const rights = [
  ['read', 4],
  ['write', 2],
  ['execute', 1],
] as const

/** Asks which rights the entries shall have, by boxes or as octal digits. */
export function ModesDialog({ entries, onClose }: { entries: readonly FileEntry[]; onClose: () => void }) {
  const { t } = useTranslation('files')
  const form = useId()
  const [mode, setMode] = useState(entries[0]?.mode_bits.slice(-3).padStart(3, '0') ?? '644')
  const change = useChangeModes()
  const isValid = /^[0-7]{3}$/.test(mode)
  const [first] = entries
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('permissions')}
      text={
        entries.length === 1 && first ? (
          <span className="wrap-anywhere">{first.name}</span>
        ) : (
          t('modes_of', { count: entries.length })
        )
      }
      width="small"
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} look="primary" disabled={!isValid}>
            {t('strings:action.save')}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate({ names: entries.map(({ name }) => name), mode })
          onClose()
        }}
      >
        <ModeBoxes mode={isValid ? mode : '000'} onChange={setMode} />
        <TextField
          label={t('mode_octal')}
          hint={t('mode_hint')}
          value={mode}
          onChange={(event) => setMode(event.target.value.trim())}
          error={isValid ? undefined : t('mode_invalid')}
          inputMode="numeric"
          maxLength={3}
          autoComplete="off"
        />
      </form>
    </Dialog>
  )
}

function ModeBoxes({ mode, onChange }: { mode: string; onChange: (mode: string) => void }) {
  const { t } = useTranslation('files')
  const digits = mode.split('').map(Number)
  const toggle = (at: number, bit: number) =>
    onChange(digits.map((digit, each) => (each === at ? digit ^ bit : digit)).join(''))
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
      {people.map((who, at) => (
        <fieldset key={who} className="flex flex-col gap-1 rounded-control border border-line px-3 pt-1 pb-2">
          <legend className="px-1 text-xs font-medium text-muted">{t(`mode.${who}`)}</legend>
          <div className="flex flex-wrap gap-x-4 sm:flex-col">
            {rights.map(([right, bit]) => (
              <Checkbox
                key={right}
                label={t(`mode.${right}`)}
                checked={((digits[at] ?? 0) & bit) !== 0}
                onChange={() => toggle(at, bit)}
                className="min-h-9 items-center"
              />
            ))}
          </div>
        </fieldset>
      ))}
    </div>
  )
}
