import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import type { CaptchaResponse } from '../api/auth.ts'
import { site } from '../app/site.ts'
import { useIsDark } from '../app/theme.ts'
import { Button } from '../components/button.tsx'

type Provider = Exclude<typeof site.captcha.provider, 'none'>

/** What the scripts of the three providers have in common. */
type CaptchaApi = {
  ready?: (callback: () => void) => void
  render: (container: HTMLElement, options: Record<string, unknown>) => number | string
  reset: (widget: number | string) => void
}

/** Address of each provider's script, the global it defines, and the form field for its response. */
const providers: Record<Provider, { script: string; global: string; field: keyof CaptchaResponse }> = {
  turnstile: {
    script: 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit',
    global: 'turnstile',
    field: 'cf-turnstile-response',
  },
  hcaptcha: {
    script: 'https://js.hcaptcha.com/1/api.js?render=explicit',
    global: 'hcaptcha',
    field: 'h-captcha-response',
  },
  recaptcha: {
    script: 'https://www.google.com/recaptcha/api.js?render=explicit',
    global: 'grecaptcha',
    field: 'g-recaptcha-response',
  },
}

let loading: Promise<CaptchaApi> | null = null

/** Loads the provider's script once for all forms, and again after a failure. */
function loadCaptchaApi(provider: Provider): Promise<CaptchaApi> {
  loading ??= addScript(provider).catch((error: unknown) => {
    loading = null
    throw error
  })
  return loading
}

function addScript(provider: Provider): Promise<CaptchaApi> {
  const { script: url, global } = providers[provider]
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = url
    script.async = true
    script.nonce = site.nonce
    script.addEventListener('error', () => {
      script.remove()
      reject(new Error('The captcha did not load.'))
    })
    script.addEventListener('load', () => {
      const api = (window as unknown as Record<string, CaptchaApi>)[global]
      if (!api) reject(new Error('The captcha did not start.'))
      else if (api.ready && provider === 'recaptcha') api.ready(() => resolve(api))
      else resolve(api)
    })
    document.head.append(script)
  })
}

export type Captcha = {
  /** Whether the form may be submitted. */
  isSolved: boolean
  response: CaptchaResponse
  /** Asks for a new response, since each one is valid only once. */
  reset: () => void
  /** Sets the element that the captcha is rendered into. */
  setContainer: (container: HTMLElement | null) => void
  failed: boolean
  retry: () => void
}

/** Provides the captcha of a form if one is configured. Render it with `CaptchaWidget`. */
export function useCaptcha(): Captcha {
  const { provider, siteKey } = site.captcha
  const [container, setContainer] = useState<HTMLElement | null>(null)
  const widget = useRef<{ api: CaptchaApi; id: number | string } | null>(null)
  const [token, setToken] = useState('')
  const [failed, setFailed] = useState(false)
  const [attempt, setAttempt] = useState(0)
  const theme = useIsDark() ? 'dark' : 'light'
  const initialTheme = useRef(theme)
  useEffect(() => {
    if (provider === 'none' || !container) return
    let isUnmounted = false
    loadCaptchaApi(provider)
      .then((api) => {
        if (isUnmounted) return
        // Providers refuse to render twice into the same element.
        const element = document.createElement('div')
        container.replaceChildren(element)
        const id = api.render(element, {
          sitekey: siteKey,
          theme: initialTheme.current,
          callback: setToken,
          'expired-callback': () => setToken(''),
          'error-callback': () => setToken(''),
        })
        widget.current = { api, id }
      })
      .catch(() => setFailed(true))
    return () => {
      isUnmounted = true
      widget.current = null
    }
  }, [provider, siteKey, container, attempt])
  return {
    isSolved: provider === 'none' || token !== '',
    response: provider === 'none' ? {} : { [providers[provider].field]: token },
    reset: () => {
      setToken('')
      if (widget.current) widget.current.api.reset(widget.current.id)
    },
    setContainer,
    failed,
    retry: () => {
      setFailed(false)
      setAttempt(attempt + 1)
    },
  }
}

/** The place of the captcha in a form; nothing if none is configured. */
export function CaptchaWidget({ captcha: { setContainer, failed, retry } }: { captcha: Captcha }) {
  const { t } = useTranslation('auth')
  if (site.captcha.provider === 'none') return null
  return (
    <div className="flex min-h-[4.5rem] flex-col items-center justify-center gap-2">
      <div ref={setContainer} />
      {failed && (
        <>
          <p role="alert" className="text-sm text-bad">
            {t('captcha.not_loaded')}
          </p>
          <Button onClick={retry}>{t('strings:action.retry')}</Button>
        </>
      )}
    </div>
  )
}
