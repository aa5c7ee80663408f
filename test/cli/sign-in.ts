type Answer = { status: number; body: any }

/** A browser at a running panel: it keeps cookies and sends the CSRF token. */
export type PanelBrowser = {
  call: (path: string, body?: object) => Promise<Answer>
  /** Opens a page that leads elsewhere; returns where to. */
  follow: (path: string) => Promise<URL>
}

/** Opens a browser without a session. */
export async function openPanelBrowser(url: string): Promise<PanelBrowser> {
  const cookies = new Map<string, string>()
  const send = async (path: string, body?: object) => {
    const answer = await fetch(`${url}${path}`, {
      method: body ? 'POST' : 'GET',
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body && { 'content-type': 'application/json', origin: url }),
        'x-xsrf-token': decodeURIComponent(cookies.get('XSRF-TOKEN') ?? ''),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return answer
  }
  const call: PanelBrowser['call'] = async (path, body) => {
    const answer = await send(path, body)
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }
  await call('/sanctum/csrf-cookie')
  const follow: PanelBrowser['follow'] = async (path) =>
    new URL((await send(path)).headers.get('location') ?? '', url)
  return { call, follow }
}

/** Signs in with a password and, where the account has one, a second factor; returns the answer of the last step. */
export async function signIn(
  browser: PanelBrowser,
  user: string,
  password: string,
  secondFactor: object,
): Promise<Answer> {
  const first = await browser.call('/auth/login', { user, password })
  if (first.body.data?.complete !== false) return first
  const { confirmation_token } = first.body.data
  return browser.call('/auth/login/checkpoint', { confirmation_token, ...secondFactor })
}
