import { useMutation, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from '../../../app/use-translation.ts'
import { methodsQuery, requestPasswordReset } from '../../../api/auth.ts'
import { asRequestError } from '../../../api/error.ts'
import { site } from '../../../app/site.ts'
import { CaptchaWidget, useCaptcha } from '../../../auth/captcha.tsx'
import { BackToSignIn, DisabledForm, GuestPage } from '../../../auth/guest-page.tsx'
import { GuestFormError, useRetryWait } from '../../../auth/guest-form-error.tsx'
import { Banner } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { TextField } from '../../../components/field.tsx'
import { Loaded } from '../../../components/states.tsx'

export const Route = createFileRoute('/auth/password/')({ component: ForgottenPassword })

function ForgottenPassword() {
  const { t } = useTranslation('auth')
  const methods = useQuery(methodsQuery(false))
  return (
    <GuestPage
      title={t('page.forgot.title')}
      text={
        site.mail === 'none' ? undefined : t(site.mail === 'sent' ? 'page.forgot.text' : 'forgot.no_mail')
      }
    >
      <Loaded query={methods}>
        {({ passwords_enabled: isEnabled }) =>
          !isEnabled ? (
            <DisabledForm text={t('login.passwords_off')} />
          ) : site.mail === 'none' ? (
            <DisabledForm text={t('forgot.ask')} />
          ) : (
            <Form />
          )
        }
      </Loaded>
    </GuestPage>
  )
}

function Form() {
  const { t } = useTranslation('auth')
  const captcha = useCaptcha()
  const [email, setEmail] = useState('')
  const sending = useMutation({
    mutationFn: () => requestPasswordReset(email, captcha.response),
    onSettled: captcha.reset,
  })
  const waitSeconds = useRetryWait(sending.error, sending.submittedAt)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!sending.isPending && waitSeconds === 0) sending.mutate()
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {sending.isSuccess && (
        <Banner tone="good" title={t(site.mail === 'sent' ? 'forgot.sent' : 'forgot.stored')} />
      )}
      <TextField
        label={t('strings:word.email')}
        name="email"
        type="email"
        autoComplete="email"
        required
        error={asRequestError(sending.error)?.fieldError('email')}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <CaptchaWidget captcha={captcha} />
      <GuestFormError error={sending.error} waitSeconds={waitSeconds} fields={['email']} />
      <Button
        type="submit"
        variant="primary"
        busy={sending.isPending}
        disabled={waitSeconds > 0 || !captcha.isSolved}
        className="w-full"
      >
        {t('forgot.submit')}
      </Button>
      <BackToSignIn />
    </form>
  )
}
