import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  WebAuthnAbortService,
} from '@simplewebauthn/browser'
import { useMutation } from '@tanstack/react-query'
import { useEffect } from 'react'
import { passkeyOptions, type SignInAnswer, signInWithPasskey } from '../api/auth.ts'

/** A challenge lasts five minutes; the one behind the suggestions of a field is renewed before. */
const renewedAfter = 270_000

/** Whether this browser can use passkeys at all. */
export const arePasskeysSupported = browserSupportsWebAuthn

/** Signs in with a passkey which the browser asks for in a window of its own. */
async function ask(): Promise<SignInAnswer> {
  const optionsJSON = await passkeyOptions()
  return signInWithPasskey(await startAuthentication({ optionsJSON }))
}

/** Waits until a passkey is chosen from the suggestions of a field; gives nothing when something else ended that. */
async function offer(signal: AbortSignal): Promise<SignInAnswer | null> {
  if (!(await browserSupportsWebAuthnAutofill()) || signal.aborted) return null
  const optionsJSON = await passkeyOptions()
  // Whatever began meanwhile would be ended by this.
  if (signal.aborted) return null
  const credential = await startAuthentication({ optionsJSON, useBrowserAutofill: true }).catch(() => null)
  return credential && signInWithPasskey(credential)
}

/** Passkeys on the page of signing in: by a button, and among the suggestions of the field for the name. */
export function usePasskeys({
  enabled,
  onAnswer,
}: {
  enabled: boolean
  onAnswer: (answer: SignInAnswer) => void
}) {
  const chosen = useMutation({ mutationFn: ask, onSuccess: onAnswer })
  const {
    mutate: wait,
    error: offerError,
    submittedAt: offeredAt,
  } = useMutation({
    mutationFn: offer,
    onSuccess: (answer) => answer && onAnswer(answer),
  })
  const isAsking = chosen.isPending
  useEffect(() => {
    if (!enabled || isAsking || !arePasskeysSupported()) return
    const over = new AbortController()
    const renew = () => wait(over.signal)
    renew()
    const timer = setInterval(renew, renewedAfter)
    return () => {
      over.abort()
      clearInterval(timer)
      WebAuthnAbortService.cancelCeremony()
    }
  }, [enabled, isAsking, wait])
  return {
    ask: () => chosen.mutate(),
    isAsking,
    error: chosen.error ?? offerError,
    failedAt: chosen.error ? chosen.submittedAt : offeredAt,
  }
}

/** Whether the person, or his browser, stopped it. */
export const isCancelled = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError')
