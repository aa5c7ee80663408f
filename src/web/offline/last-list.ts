import { site } from '../app/site.ts'

const storageKey = 'roost.last-list'

/** The address of the code, which is another one in each version: what an earlier one wrote is not read. */
const codeAddress = document.querySelector<HTMLScriptElement>('script[type=module][src]')?.src

type LastList<Request, Page> = { user: string; code: string | undefined; request: Request; page: Page }

let last: LastList<unknown, unknown> | null | undefined

/** Keeps the list of servers that was seen last, so that the next visit begins with it. Not of a user for whom another acts. */
export function keepList<Request, Page>(request: Request, page: Page): void {
  if (!site.user || site.acting) return
  last = { user: site.user.uuid, code: codeAddress, request, page } satisfies LastList<Request, Page>
  try {
    localStorage.setItem(storageKey, JSON.stringify(last))
  } catch {
    // A browser without room for it begins with an empty list.
    localStorage.removeItem(storageKey)
  }
}

/** Returns the list that was seen last if it was the answer to the same request of the same user. */
export function recallList<Page>(request: unknown): Page | undefined {
  last ??= readList()
  const isSame =
    last?.user === site.user?.uuid &&
    last?.code === codeAddress &&
    JSON.stringify(last?.request) === JSON.stringify(request)
  return isSame && !site.acting ? (last?.page as Page) : undefined
}

/** Forgets the list, for another account may sign in. */
export function forgetList(): void {
  last = null
  localStorage.removeItem(storageKey)
}

function readList(): LastList<unknown, unknown> | null {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? 'null') as LastList<unknown, unknown> | null
  } catch {
    return null
  }
}
