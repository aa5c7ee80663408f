import { useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { type CSSProperties, type ReactNode, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminGet } from '../../api/admin.ts'
import { send } from '../../api/request.ts'
import { site } from '../../app/site.ts'
import { useDebouncedValue } from '../../app/use-debounced-value.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { controlStyle, Field } from '../../components/field.tsx'
import { toastError } from '../../components/toast.tsx'
import { useForm, useFormField } from '../form/resource-form.tsx'
import type { Accent, Item, Logo } from '../resources.ts'

type FieldProps = { name: string; label: string; hint: ReactNode; className?: string }

const colourPattern = /^#[0-9a-f]{6}$/i
const logoPath = (name: string) => `/logos/${name}`

/** A colour, chosen or typed as #rrggbb. */
export function ColourInput({ name, ...props }: FieldProps) {
  const { t } = useTranslation('admin')
  const { value, set, error } = useFormField(name)
  const text = String(value)
  return (
    <Field {...props} error={error}>
      {(control) => (
        <div className="grid grid-cols-[3rem_minmax(0,10rem)] gap-2">
          <input
            type="color"
            aria-label={t('settings.pick_colour')}
            value={colourPattern.test(text) ? text : '#0c6b58'}
            onChange={({ target }) => set(target.value)}
            className="h-9 w-full cursor-pointer rounded-control border border-line-strong bg-surface p-1"
          />
          <input
            {...control}
            value={text}
            placeholder="#0c6b58"
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => set(target.value)}
            className={`${controlStyle} font-mono`}
          />
        </div>
      )}
    </Field>
  )
}

/** A picture, uploaded at once and named by the setting once that is saved. */
export function LogoInput({ name, ...props }: FieldProps) {
  const { t } = useTranslation('admin')
  const { value, set, error } = useFormField(name)
  const [isBusy, setBusy] = useState(false)
  const upload = async (file: File | undefined) => {
    if (!file) return
    setBusy(true)
    try {
      const form = new FormData()
      form.append('logo', file)
      const answer = await send('/api/application/settings/logo', { method: 'POST', body: form })
      set(((await answer.json()) as Item<Logo>).attributes.name)
    } catch (failure) {
      toastError(failure, t('strings:failure.other'))
    } finally {
      setBusy(false)
    }
  }
  const onDark = name.endsWith('_dark')
  return (
    <Field {...props} error={error}>
      {(control) => (
        <div className="flex flex-wrap items-center gap-2">
          {value !== '' && (
            <span
              data-theme={onDark ? 'dark' : 'light'}
              className="rounded-control border border-line bg-surface p-2"
            >
              <img src={logoPath(String(value))} alt={props.label} className="h-8 max-w-40" />
            </span>
          )}
          <input
            {...control}
            type="file"
            accept="image/png,image/jpeg,image/webp"
            disabled={isBusy}
            onChange={({ target }) => {
              void upload(target.files?.[0])
              target.value = ''
            }}
            className="min-w-0 text-sm text-transparent file:min-h-9 file:cursor-pointer file:rounded-control file:border file:border-line file:bg-surface file:px-3 file:text-ink"
          />
          {value !== '' && (
            <Button icon={Trash2} variant="quiet" onClick={() => set('')}>
              {t('settings.remove_logo')}
            </Button>
          )}
        </div>
      )}
    </Field>
  )
}

/** Shows both themes as the form would have them, and why there is no more to change. */
export function AppearancePreview() {
  const { t } = useTranslation('admin')
  const { values } = useForm()
  const text = (name: string) => String(values[`appearance.${name}`] ?? '')
  const accent = useDebouncedValue(text('accent'))
  const colours = useQuery({
    queryKey: ['admin', 'accent', accent],
    queryFn: ({ signal }) => adminGet<Item<Accent>>('/settings/accent', { accent }, signal),
    enabled: colourPattern.test(accent),
    staleTime: Infinity,
  })
  const shown = accent === '' ? undefined : colours.data?.attributes
  const logos = {
    light: text('logo_light') || text('logo_dark'),
    dark: text('logo_dark') || text('logo_light'),
  }
  return (
    <Card title={t('settings.preview')} text={t('settings.preview_text')}>
      <div className="grid gap-4 sm:grid-cols-2">
        {(['light', 'dark'] as const).map((theme) => (
          <ThemePreview
            key={theme}
            theme={theme}
            name={site.name}
            logo={logos[theme]}
            colours={shown?.[theme]}
          />
        ))}
      </div>
      {shown && (
        <p className="mt-3 text-sm text-muted">
          {t('settings.accent_text', { light: shown.light.brand, dark: shown.dark.brand })}
        </p>
      )}
      <p className="mt-3 text-sm text-muted">{t('settings.no_css')}</p>
    </Card>
  )
}

type ThemePreviewProps = {
  theme: 'light' | 'dark'
  name: string
  logo: string
  colours: Accent['light'] | undefined
}

function ThemePreview({ theme, name, logo, colours }: ThemePreviewProps) {
  const { t } = useTranslation('admin')
  const style = colours && {
    '--brand': colours.brand,
    '--brand-text': colours.brand,
    '--brand-ink': colours.ink,
    '--brand-soft': colours.soft,
  }
  return (
    <section
      aria-label={t(`settings.theme_${theme}`)}
      data-theme={theme}
      style={style as CSSProperties | undefined}
      className="overflow-hidden rounded-card border border-line bg-canvas text-sm text-ink"
    >
      <p className="flex min-h-12 items-center gap-2.5 border-b border-line bg-surface px-3 font-semibold">
        {logo ? (
          <img src={logoPath(logo)} alt="" className="h-8 max-w-40" />
        ) : (
          <span aria-hidden className="size-7 rounded-lg bg-brand" />
        )}
        <span className="truncate">{name}</span>
      </p>
      <div className="flex flex-wrap items-center gap-3 p-3">
        <span className="rounded-control bg-brand px-3 py-1.5 font-medium text-brand-ink">
          {t('strings:action.save')}
        </span>
        <span className="font-medium text-brand-text underline">{t('nav.servers')}</span>
        <span className="rounded-full bg-brand-soft px-2.5 py-0.5 text-xs font-medium text-brand-text">
          {t('nav.overview')}
        </span>
      </div>
    </section>
  )
}
