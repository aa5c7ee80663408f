import { Eye, EyeOff } from 'lucide-react'
import { type ComponentProps, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { IconButton } from './button.tsx'
import { classNames } from './class-names.ts'
import { controlStyle, Field } from './field.tsx'

type PasswordFieldProps = Omit<ComponentProps<'input'>, 'className' | 'type'> & {
  label: string
  hint?: string | undefined
  error?: string | undefined
  autoComplete: 'current-password' | 'new-password'
}

/** A password field with a button to show the password. */
export function PasswordField({ label, hint, error, ...rest }: PasswordFieldProps) {
  const { t } = useTranslation()
  const [isShown, setShown] = useState(false)
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <div className="relative">
          <input
            {...rest}
            {...control}
            type={isShown ? 'text' : 'password'}
            autoCapitalize="none"
            spellCheck={false}
            className={classNames(controlStyle, 'pe-10')}
          />
          <IconButton
            icon={isShown ? EyeOff : Eye}
            label={t(isShown ? 'action.hide' : 'action.show')}
            className="absolute top-0 end-0"
            onClick={() => setShown(!isShown)}
          />
        </div>
      )}
    </Field>
  )
}
