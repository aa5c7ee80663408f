import { useQuery } from '@tanstack/react-query'
import { createFileRoute, redirect } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { methodsQuery, type SignInResult, type SignInMethods } from '../../api/auth.ts'
import { site } from '../../app/site.ts'
import { Checkpoint, type CheckpointEndReason } from '../../auth/checkpoint.tsx'
import { safeRedirectPath } from '../../auth/redirect-path.ts'
import { SignIn } from '../../auth/sign-in.tsx'
import { Loaded } from '../../components/states.tsx'

type LoginSearch = { intended?: string; oauth?: 'checkpoint' }

export const Route = createFileRoute('/auth/login')({
  validateSearch: ({ intended, oauth }: Record<string, unknown>): LoginSearch => ({
    ...(typeof intended === 'string' ? { intended } : {}),
    ...(oauth === 'checkpoint' ? { oauth } : {}),
  }),
  // A panel without users is set up first.
  beforeLoad: () => {
    if (site.isSetupDue) throw redirect({ to: '/auth/setup' })
  },
  component: Login,
})

function Login() {
  const { oauth } = Route.useSearch()
  const isFromProvider = oauth === 'checkpoint'
  return (
    <Loaded query={useQuery(methodsQuery(isFromProvider))}>
      {(methods) => <SignInSteps methods={methods} isFromProvider={isFromProvider} />}
    </Loaded>
  )
}

/** Runs the first factor, then the checkpoint if the account needs one, then redirects. */
function SignInSteps({ methods, isFromProvider }: { methods: SignInMethods; isFromProvider: boolean }) {
  const { t } = useTranslation('auth')
  const { intended } = Route.useSearch()
  const [token, setToken] = useState(methods.confirmation_token)
  const isExpired = isFromProvider && methods.confirmation_token === null
  const [endReason, setEndReason] = useState<CheckpointEndReason>(isExpired ? 'expired' : 'cancelled')
  const onResult = (result: SignInResult) => {
    // A full page load: the content policy of the page depends on who is signed in.
    if (result.complete) location.assign(safeRedirectPath(intended ?? result.intended))
    else setToken(result.confirmation_token)
  }
  const onEnd = useCallback((reason: CheckpointEndReason) => {
    setToken(null)
    setEndReason(reason)
  }, [])
  if (token !== null) return <Checkpoint confirmationToken={token} onResult={onResult} onEnd={onEnd} />
  const notice = endReason === 'cancelled' ? null : t(`checkpoint.${endReason}`)
  return <SignIn methods={methods} redirectPath={intended} notice={notice} onResult={onResult} />
}
