import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { CaptchaResponse } from '../api/auth.ts'
import { site } from '../app/site.ts'
import { useIsDark } from '../app/theme.ts'
import { Button } from '../components/button.tsx'

type Provider = Exclude<typeof site.captcha.provider, 'none'>

/** What the three providers have in common. */
type Widgets = {
  ready?: (whenReady: () => void) => void
  render: (place: HTMLElement, options: Record<string, unknown>) => number | string
  reset: (widget: number | string) => void
}

/** Where a provider's script is, the member of `window` it adds, and where forms say what it gave. */
const providers: Record<Provider, { script: string; global: string; field: string }> = {
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

let loading: Promise<Widgets> | null = null

/** The provider's script, once for all forms; one that did not come is asked for again. */
function loadWidgets(provider: Provider): Promise<Widgets> {
  loading ??= addScript(provider).catch((error: unknown) => {
    loading = null
    throw error
  })
  return loading
}

function addScript(provider: Provider): Promise<Widgets> {
  const { script: address, global } = providers[provider]
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = address
    script.async = true
    script.nonce = site.nonce
    script.addEventListener('error', () => {
      script.remove()
      reject(new Error('The captcha did not load.'))
    })
    script.addEventListener('load', () => {
      const widgets = (window as unknown as Record<string, Widgets>)[global]
      if (!widgets) reject(new Error('The captcha did not start.'))
      else if (widgets.ready && provider === 'recaptcha') widgets.ready(() => resolve(widgets))
      else resolve(widgets)
    })
    document.head.append(script)
  })
}

export type Captcha = {
  /** Nothing is missing: the form may be sent. */
  isSolved: boolean
  response: CaptchaResponse
  /** What it gave counts once: after every answer it is solved anew. */
  reset: () => void
  /** The element in which it appears. */
  setPlace: (place: HTMLElement | null) => void
  failed: boolean
  retry: () => void
}

/** The captcha of a form, where the administrator has set one up; show it by `CaptchaWidget`. */
export function useCaptcha(): Captcha {
  const { provider, siteKey } = site.captcha
  const [place, setPlace] = useState<HTMLElement | null>(null)
  const shown = useRef<{ widgets: Widgets; id: number | string } | null>(null)
  const [token, setToken] = useState('')
  const [failed, setFailed] = useState(false)
  const [attempt, setAttempt] = useState(0)
  const theme = useIsDark() ? 'dark' : 'light'
  const firstTheme = useRef(theme)
  useEffect(() => {
    if (provider === 'none' || !place) return
    let isGone = false
    loadWidgets(provider)
      .then((widgets) => {
        if (isGone) return
        // Widgets cannot be drawn twice into the same element.
        const element = document.createElement('div')
        place.replaceChildren(element)
        const id = widgets.render(element, {
          sitekey: siteKey,
          theme: firstTheme.current,
          callback: setToken,
          'expired-callback': () => setToken(''),
          'error-callback': () => setToken(''),
        })
        shown.current = { widgets, id }
      })
      .catch(() => setFailed(true))
    return () => {
      isGone = true
      shown.current = null
    }
  }, [provider, siteKey, place, attempt])
  return {
    isSolved: provider === 'none' || token !== '',
    response: provider === 'none' ? {} : { [providers[provider].field]: token },
    reset: () => {
      setToken('')
      if (shown.current) shown.current.widgets.reset(shown.current.id)
    },
    setPlace,
    failed,
    retry: () => {
      setFailed(false)
      setAttempt(attempt + 1)
    },
  }
}

/** Where the captcha appears; nothing where there is none. */
export function CaptchaWidget({ captcha: { setPlace, failed, retry } }: { captcha: Captcha }) {
  const { t } = useTranslation('auth')
  if (site.captcha.provider === 'none') return null
  return (
    <div className="flex min-h-[4.5rem] flex-col items-center justify-center gap-2">
      <div ref={setPlace} />
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
