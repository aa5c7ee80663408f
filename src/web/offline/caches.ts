/** The address under which the last page of the application is kept; it starts at any address of the application. */
export const keptPage = '/'

/** The address under which the texts of all pages of players are kept. */
export const keptTexts = '/locales/locale.json'

/** Caches of this origin: the application's code, its page and texts, and what the Client API answered last. */
export const cacheNames = { code: 'roost-code', page: 'roost-page', data: 'roost-data' } as const

/** A header of answers that the browser kept. */
export const keptHeader = 'x-kept'
