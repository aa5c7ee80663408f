import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Chromium, Tab } from '../../support/chromium.ts'
import { codesOf } from '../../support/totp-codes.ts'

export type Account = { username: string; email: string; password: string }
export type ListedSession = { id: string; is_current: boolean; user_agent: string }
type Answer = { status: number; body: any }

/** The progress of a sign-in. */
export type Progress = 'signed in' | 'asked for a code' | 'refused'

/** A user at a browser. Steps throw when they fail. */
export type Player = Awaited<ReturnType<typeof openPlayer>>

/**
 * A browser at the panel. The pages are the panel's own, without the application: their scripts are these steps,
 * which call the routes as the application does.
 */
export async function openPlayer(chromium: Chromium, panelUrl: string, userAgent = 'Laptop') {
  const tab = await chromium.openTab({ baseURL: panelUrl, userAgent })
  await leaveApplicationOut(tab)
  const { page } = tab
  let confirmationToken = ''

  const must = async (method: string, path: string, body?: unknown) => {
    const answer = await send(page, method, path, body)
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
    return answer.body
  }
  const open = async (path: string): Promise<string> => {
    await page.goto(path)
    return new URL(page.url()).pathname
  }
  const progress = async ({ status, body }: Answer): Promise<Progress> => {
    if (status !== 200) return 'refused'
    confirmationToken = body.data.confirmation_token ?? ''
    if (!body.data.complete) return 'asked for a code'
    await page.goto(body.data.intended)
    return 'signed in'
  }
  /** Follows a link to a provider, up to the page after the callback. */
  const visitProvider = async (link: string): Promise<void> => {
    const arrival = page.waitForEvent('load')
    await page.evaluate((address) => location.assign(address), link)
    await arrival
  }

  return {
    ...tab,
    /** Reads a route under the session of the user. */
    read: (path: string) => must('GET', path),
    /** Opens a page of the panel; gives the path at which the browser ends up. */
    open,
    signIn: async ({ username, password }: Account): Promise<Progress> => {
      await open('/auth/login')
      return progress(await send(page, 'POST', '/auth/login', { user: username, password }))
    },
    enterCode: async (code: string): Promise<Progress> => {
      const input = { confirmation_token: confirmationToken, authentication_code: code }
      return progress(await send(page, 'POST', '/auth/login/checkpoint', input))
    },
    signOut: async () => {
      await must('POST', '/auth/logout')
      await open('/auth/login')
    },
    /** Returns the name of the signed-in account, or null. */
    whoAmI: async (): Promise<string | null> => {
      const { status, body } = await send(page, 'GET', '/api/client/account')
      return status === 200 ? body.attributes.username : null
    },
    /** Returns a function that generates the codes of the authenticator. */
    turnOnSecondFactor: async ({ password }: Account) => {
      const { data } = await must('GET', '/api/client/account/two-factor')
      const nextCode = codesOf(data.secret)
      await must('POST', '/api/client/account/two-factor', { code: await nextCode(), password })
      return nextCode
    },

    registerPasskey: async ({ password }: Account, name: string) => {
      const proof = { current_password: password }
      const options = await must('POST', '/account/security/passkeys/options', proof)
      const made = await page.evaluate(async (json) => {
        const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(json)
        const credential = await navigator.credentials.create({ publicKey })
        return (credential as PublicKeyCredential).toJSON()
      }, options)
      await must('POST', '/account/security/passkeys', { ...made, name })
    },
    signInWithPasskey: async (): Promise<Progress> => {
      await open('/auth/login')
      const options = await must('POST', '/auth/passkeys/options')
      const shown = await page.evaluate(async (json) => {
        const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json)
        const credential = await navigator.credentials.get({ publicKey })
        return (credential as PublicKeyCredential).toJSON()
      }, options)
      return progress(await send(page, 'POST', '/auth/passkeys/login', shown))
    },

    linkIdentity: async ({ password }: Account) => {
      await open('/account/sign-in')
      const proof = { current_password: password }
      const { redirect } = await must('POST', '/account/security/oauth/oidc', proof)
      await visitProvider(redirect)
    },
    signInWithProvider: async () => {
      await open('/auth/login')
      await visitProvider('/auth/oauth/oidc')
    },
    /** Reads the sign-in methods, with the one-time message of the page. */
    security: () => must('GET', '/account/security'),
    /** Reads the one-time message of the sign-in page. */
    signInError: async (): Promise<string | null> => (await must('GET', '/auth/methods')).error,

    askForNewPassword: async (email: string) => {
      await open('/auth/password')
      await must('POST', '/auth/password', { email })
    },
    chooseNewPassword: async (link: string, password: string) => {
      await page.goto(link)
      const { pathname, searchParams } = new URL(page.url())
      const token = pathname.split('/').at(-1)
      const input = {
        token,
        email: searchParams.get('email'),
        password,
        password_confirmation: password,
      }
      const { redirect_to: next } = await must('POST', '/auth/password/reset', input)
      await open(next)
    },

    sessions: async (): Promise<ListedSession[]> =>
      (await must('GET', '/account/security/sessions')).sessions,
    endSession: async ({ id }: ListedSession) => {
      await must('DELETE', `/account/security/sessions/${id}`)
    },
  }
}

/** Calls the panel as scripts of its pages do: under the page's cookies, showing that the page is ours. */
async function send(page: Page, method: string, path: string, body?: unknown): Promise<Answer> {
  return page.evaluate(
    async (call) => {
      const token = /(?:^|; )XSRF-TOKEN=([^;]*)/.exec(document.cookie)?.[1] ?? ''
      const answer = await fetch(call.path, {
        method: call.method,
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'x-xsrf-token': decodeURIComponent(token),
        },
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      })
      const text = await answer.text()
      return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
    },
    { method, path, body },
  )
}

/** Replaces the assets of the application by empty files, so that pages do nothing by themselves. */
async function leaveApplicationOut({ context }: Tab): Promise<void> {
  await context.route('**/assets/**', async (route) => {
    const isStyle = route.request().resourceType() === 'stylesheet'
    await route.fulfill({ contentType: isStyle ? 'text/css' : 'text/javascript', body: '' })
  })
}
