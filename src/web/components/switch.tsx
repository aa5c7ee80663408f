import { Check } from 'lucide-react'
import { Checkbox as RadixCheckbox, Switch as RadixSwitch } from 'radix-ui'
import { type ReactNode, useId } from 'react'
import { classNames } from './class-names.ts'

type ToggleProps = {
  label: ReactNode
  hint?: ReactNode
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
  className?: string
  /** Shows the label to screen readers only. */
  hideLabel?: boolean
}

function ToggleLabel({
  id,
  label,
  hint,
  hideLabel,
}: Pick<ToggleProps, 'label' | 'hint' | 'hideLabel'> & { id: string }) {
  return (
    <span className={hideLabel ? 'sr-only' : 'flex min-w-0 flex-col'}>
      <label htmlFor={id} className="text-sm font-medium wrap-anywhere">
        {label}
      </label>
      {hint && (
        <span id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </span>
      )}
    </span>
  )
}

/** A switch that takes effect at once. */
export function Switch({
  label,
  hint,
  checked,
  onChange,
  disabled = false,
  className,
  hideLabel = false,
}: ToggleProps) {
  const id = useId()
  return (
    <span className={classNames('flex items-start gap-3', className)}>
      <RadixSwitch.Root
        id={id}
        checked={checked}
        onCheckedChange={onChange}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        className="relative mt-0.5 h-5 w-9 shrink-0 rounded-full bg-line-strong transition-colors disabled:opacity-50 data-[state=checked]:bg-brand"
      >
        <RadixSwitch.Thumb className="block size-4 translate-x-0.5 rounded-full bg-white transition-transform data-[state=checked]:translate-x-4.5 dark:bg-surface" />
      </RadixSwitch.Root>
      <ToggleLabel id={id} label={label} hint={hint} hideLabel={hideLabel} />
    </span>
  )
}

type CheckboxProps = Omit<ToggleProps, 'checked'> & { checked: boolean | 'indeterminate' }

/** A checkbox. */
export function Checkbox({
  label,
  hint,
  checked,
  onChange,
  disabled = false,
  className,
  hideLabel = false,
}: CheckboxProps) {
  const id = useId()
  return (
    <span className={classNames('flex items-start gap-2.5', className)}>
      <RadixCheckbox.Root
        id={id}
        checked={checked}
        onCheckedChange={(next) => onChange(next === true)}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        // What is pressed is larger than the box, whose place it takes.
        className="group -mx-[3px] -mt-px flex size-6 shrink-0 items-center justify-center rounded-control disabled:opacity-50"
      >
        <span className="flex size-4.5 items-center justify-center rounded-[0.25rem] border border-line-strong bg-surface group-data-[state=checked]:border-brand group-data-[state=checked]:bg-brand group-data-[state=indeterminate]:bg-brand-soft">
          <RadixCheckbox.Indicator>
            {checked === 'indeterminate' ? (
              <span className="block h-0.5 w-2 bg-brand" />
            ) : (
              <Check aria-hidden className="size-3.5 text-brand-ink" strokeWidth={3} />
            )}
          </RadixCheckbox.Indicator>
        </span>
      </RadixCheckbox.Root>
      <ToggleLabel id={id} label={label} hint={hint} hideLabel={hideLabel} />
    </span>
  )
}
