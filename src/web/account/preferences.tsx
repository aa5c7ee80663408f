import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from '../app/use-translation.ts'
import {
  type Account,
  accountQuery,
  changeLanguage,
  changePrivacy,
  type LanguageChoice,
} from '../api/account.ts'
import { setBlur } from '../app/privacy.ts'
import { setTheme, type Theme, themes, useTheme } from '../app/theme.ts'
import { Card } from '../components/card.tsx'
import { SelectField } from '../components/field.tsx'
import { Switch } from '../components/switch.tsx'
import { toastError } from '../components/toast.tsx'

const languages = [
  'en',
  'de',
  'fr',
  'es',
  'pt-BR',
  'pl',
  'tr',
  'ru',
  'zh-CN',
] as const satisfies readonly LanguageChoice[]

/** Returns a language's name in that language. */
const nameOf = (language: string) =>
  new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language

/** Shows the settings for language, theme and privacy mode. */
export function Preferences({ account }: { account: Account }) {
  const { t } = useTranslation('account')
  return (
    <Card title={t('preferences.title')}>
      <div className="flex max-w-md flex-col gap-5">
        <LanguageField language={account.language} />
        <ThemeField />
        <PrivacySwitch isOn={account.blur_sensitive_data} />
      </div>
    </Card>
  )
}

function LanguageField({ language }: { language: string }) {
  const { t } = useTranslation('account')
  const changing = useMutation({
    mutationFn: changeLanguage,
    // The texts of the page are in its language, so the page is loaded again.
    onSuccess: () => location.reload(),
    onError: (error) => toastError(error, t('profile.failed')),
  })
  return (
    <SelectField
      label={t('profile.language')}
      hint={t('profile.language_text')}
      value={changing.isPending || changing.isSuccess ? changing.variables : language}
      disabled={changing.isPending || changing.isSuccess}
      onChange={(event) => changing.mutate(event.target.value as LanguageChoice)}
    >
      <option value="auto">{t('profile.language_auto')}</option>
      {languages.map((each) => (
        <option key={each} value={each} lang={each}>
          {nameOf(each)}
        </option>
      ))}
    </SelectField>
  )
}

function ThemeField() {
  const { t } = useTranslation('account', 'server')
  return (
    <SelectField
      label={t('preferences.theme')}
      hint={t('preferences.theme_text')}
      value={useTheme()}
      onChange={(event) => setTheme(event.target.value as Theme)}
    >
      {themes.map((theme) => (
        <option key={theme} value={theme}>
          {t(`server:theme.${theme}`)}
        </option>
      ))}
    </SelectField>
  )
}

function PrivacySwitch({ isOn }: { isOn: boolean }) {
  const { t } = useTranslation('account')
  const queries = useQueryClient()
  const show = (blur: boolean) => {
    setBlur(blur)
    queries.setQueryData(
      accountQuery.queryKey,
      (account) => account && { ...account, blur_sensitive_data: blur },
    )
  }
  const changing = useMutation({
    mutationFn: changePrivacy,
    onMutate: show,
    onError: (error, blur) => {
      show(!blur)
      toastError(error, t('profile.failed'))
    },
  })
  return (
    <Switch
      label={t('profile.privacy')}
      hint={t('profile.privacy_text')}
      checked={isOn}
      disabled={changing.isPending}
      onChange={(blur) => changing.mutate(blur)}
    />
  )
}
