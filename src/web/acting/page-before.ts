const key = 'roost.page_before_acting'

/** Remembers, in this tab, the page of the administrator who begins to act for a user. */
export const rememberPage = (): void => sessionStorage.setItem(key, location.pathname)

/** Returns the page on which the administrator began to act; their first page in another tab. */
export function pageBefore(): string {
  const page = sessionStorage.getItem(key)
  sessionStorage.removeItem(key)
  return page ?? '/admin'
}
