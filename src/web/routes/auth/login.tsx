import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { methodsQuery, type SignInAnswer, type SignInMethods } from '../../api/auth.ts'
import { Checkpoint, type CheckpointEnd } from '../../auth/checkpoint.tsx'
import { intendedPath } from '../../auth/intended.ts'
import { SignIn } from '../../auth/sign-in.tsx'
import { Loaded } from '../../components/states.tsx'

type LoginSearch = { intended?: string; oauth?: 'checkpoint' }

export const Route = createFileRoute('/auth/login')({
  validateSearch: ({ intended, oauth }: Record<string, unknown>): LoginSearch => ({
    ...(typeof intended === 'string' ? { intended } : {}),
    ...(oauth === 'checkpoint' ? { oauth } : {}),
  }),
  component: Login,
})

function Login() {
  const { oauth } = Route.useSearch()
  const isFromProvider = oauth === 'checkpoint'
  return (
    <Loaded query={useQuery(methodsQuery(isFromProvider))}>
      {(methods) => <Steps methods={methods} isFromProvider={isFromProvider} />}
    </Loaded>
  )
}

/** The first factor, then the second where the account has one, then the page that was wanted. */
function Steps({ methods, isFromProvider }: { methods: SignInMethods; isFromProvider: boolean }) {
  const { t } = useTranslation('auth')
  const { intended } = Route.useSearch()
  const [token, setToken] = useState(methods.confirmation_token)
  const isGone = isFromProvider && methods.confirmation_token === null
  const [ended, setEnded] = useState<CheckpointEnd>(isGone ? 'expired' : 'cancelled')
  const onAnswer = (answer: SignInAnswer) => {
    // A page of its own: what it may show comes with it.
    if (answer.complete) location.assign(intendedPath(intended ?? answer.intended))
    else setToken(answer.confirmation_token)
  }
  const onEnd = useCallback((reason: CheckpointEnd) => {
    setToken(null)
    setEnded(reason)
  }, [])
  if (token !== null) return <Checkpoint confirmationToken={token} onAnswer={onAnswer} onEnd={onEnd} />
  const notice = ended === 'cancelled' ? null : t(`checkpoint.${ended}`)
  return <SignIn methods={methods} intended={intended} notice={notice} onAnswer={onAnswer} />
}
