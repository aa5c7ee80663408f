import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  WebAuthnAbortService,
} from '@simplewebauthn/browser'
import { useMutation } from '@tanstack/react-query'
import { useEffect } from 'react'
import { passkeyOptions, type SignInResult, signInWithPasskey } from '../api/auth.ts'

/** The panel's challenge is valid for five minutes; the one for autofill is renewed before. */
const challengeRenewalMs = 270_000

/** Whether this browser supports passkeys. */
export const arePasskeysSupported = browserSupportsWebAuthn

/** Signs in with a passkey that the user picks in the browser's dialog. */
async function promptForPasskey(): Promise<SignInResult> {
  const optionsJSON = await passkeyOptions()
  return signInWithPasskey(await startAuthentication({ optionsJSON }))
}

/** Waits until the user picks a passkey from autofill. Returns null when the prompt was ended otherwise. */
async function waitForAutofill(signal: AbortSignal): Promise<SignInResult | null> {
  if (!(await browserSupportsWebAuthnAutofill()) || signal.aborted) return null
  const optionsJSON = await passkeyOptions()
  // Starting a ceremony would cancel one that was started meanwhile.
  if (signal.aborted) return null
  const credential = await startAuthentication({ optionsJSON, useBrowserAutofill: true }).catch(() => null)
  return credential && signInWithPasskey(credential)
}

/** Passkey sign-in by a button, and by autofill in the username field. */
export function usePasskeys({
  enabled,
  onResult,
}: {
  enabled: boolean
  onResult: (answer: SignInResult) => void
}) {
  const prompt = useMutation({ mutationFn: promptForPasskey, onSuccess: onResult })
  const {
    mutate: startAutofill,
    error: autofillError,
    submittedAt: autofillStartedAt,
  } = useMutation({
    mutationFn: waitForAutofill,
    onSuccess: (answer) => answer && onResult(answer),
  })
  const isPrompting = prompt.isPending
  useEffect(() => {
    if (!enabled || isPrompting || !arePasskeysSupported()) return
    const abort = new AbortController()
    const renew = () => startAutofill(abort.signal)
    renew()
    const timer = setInterval(renew, challengeRenewalMs)
    return () => {
      abort.abort()
      clearInterval(timer)
      WebAuthnAbortService.cancelCeremony()
    }
  }, [enabled, isPrompting, startAutofill])
  return {
    promptForPasskey: () => prompt.mutate(),
    isPrompting,
    error: prompt.error ?? autofillError,
    failedAt: prompt.error ? prompt.submittedAt : autofillStartedAt,
  }
}

/** Whether the user or the browser cancelled the ceremony. */
export const isCancelled = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError')
