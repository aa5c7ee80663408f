import { useId, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import type { FileEntry } from '../../api/files.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Checkbox } from '../../components/switch.tsx'
import { useChangeModes } from './file-actions.ts'

/** The three classes of a mode, one for each octal digit. */
const modeClasses = ['owner', 'group', 'others'] as const
const rights = [
  ['read', 4],
  ['write', 2],
  ['execute', 1],
] as const

/** Asks for the permissions of the entries, by checkboxes or as octal digits. */
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
          <Button type="submit" form={form} variant="primary" disabled={!isValid}>
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
        <ModeCheckboxes mode={isValid ? mode : '000'} onChange={setMode} />
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

function ModeCheckboxes({ mode, onChange }: { mode: string; onChange: (mode: string) => void }) {
  const { t } = useTranslation('files')
  const digits = mode.split('').map(Number)
  const toggle = (index: number, bit: number) =>
    onChange(digits.map((digit, each) => (each === index ? digit ^ bit : digit)).join(''))
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
      {modeClasses.map((modeClass, index) => (
        <fieldset
          key={modeClass}
          className="flex flex-col gap-1 rounded-control border border-line px-3 pt-1 pb-2"
        >
          <legend className="px-1 text-xs font-medium text-muted">{t(`mode.${modeClass}`)}</legend>
          <div className="flex flex-wrap gap-x-4 sm:flex-col">
            {rights.map(([right, bit]) => (
              <Checkbox
                key={right}
                label={t(`mode.${right}`)}
                checked={((digits[index] ?? 0) & bit) !== 0}
                onChange={() => toggle(index, bit)}
                className="min-h-9 items-center"
              />
            ))}
          </div>
        </fieldset>
      ))}
    </div>
  )
}
