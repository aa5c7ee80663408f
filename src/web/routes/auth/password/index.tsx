import { useMutation, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { methodsQuery, requestPasswordReset } from '../../../api/auth.ts'
import { asRequestError } from '../../../api/error.ts'
import { CaptchaWidget, useCaptcha } from '../../../auth/captcha.tsx'
import { BackToSignIn, Closed, GuestPage } from '../../../auth/guest-page.tsx'
import { Refusal, useWait } from '../../../auth/refusal.tsx'
import { Banner } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { TextField } from '../../../components/field.tsx'
import { Loaded } from '../../../components/states.tsx'

export const Route = createFileRoute('/auth/password/')({ component: ForgottenPassword })

function ForgottenPassword() {
  const { t } = useTranslation('auth')
  const methods = useQuery(methodsQuery(false))
  return (
    <GuestPage title={t('page.forgot.title')} text={t('page.forgot.text')}>
      <Loaded query={methods}>
        {({ passwords_enabled: isOpen }) => (isOpen ? <Form /> : <Closed text={t('login.passwords_off')} />)}
      </Loaded>
    </GuestPage>
  )
}

function Form() {
  const { t } = useTranslation('auth')
  const captcha = useCaptcha()
  const [email, setEmail] = useState('')
  const asking = useMutation({
    mutationFn: () => requestPasswordReset(email, captcha.response),
    onSettled: captcha.reset,
  })
  const wait = useWait(asking.error, asking.submittedAt)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!asking.isPending && wait === 0) asking.mutate()
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {asking.isSuccess && <Banner tone="good" title={t('forgot.sent')} />}
      <TextField
        label={t('strings:word.email')}
        name="email"
        type="email"
        autoComplete="email"
        required
        error={asRequestError(asking.error)?.fieldError('email')}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <CaptchaWidget captcha={captcha} />
      <Refusal error={asking.error} wait={wait} fields={['email']} />
      <Button
        type="submit"
        look="primary"
        busy={asking.isPending}
        disabled={wait > 0 || !captcha.isSolved}
        className="w-full"
      >
        {t('forgot.submit')}
      </Button>
      <BackToSignIn />
    </form>
  )
}
