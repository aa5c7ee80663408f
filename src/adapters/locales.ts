/** Texts by key, in groups, in the format of i18next: `{{name}}` is a value, `_one`, `_few` … are plural forms. */
export type Translations = { [name: string]: string | Translations }

/** The files with the texts of the web application, which are too large to be part of a function. */
export type LocaleFiles = {
  /** Reads the file of a language and namespace. Both must be known: input of callers must not become a path. */
  read: (language: string, namespace: string) => Promise<Translations>
}

/** Reads locales over HTTP from URLs below `base`, each once. Throws when a file is missing. */
export function fetchLocaleFiles(
  fetchFile: (address: string) => Promise<Response>,
  base: string,
): LocaleFiles {
  return cacheLocaleFiles(async (file) => {
    const response = await fetchFile(`${base}${file}`)
    if (!response.ok) throw new Error(`The locale file ${file} was answered with ${response.status}.`)
    return response.text()
  })
}

/** Reads locales with `readFile`, by their path below the folder of locales, each once. */
export function cacheLocaleFiles(readFile: (file: string) => Promise<string>): LocaleFiles {
  const cache = new Map<string, Translations>()
  return {
    read: async (language, namespace) => {
      const file = `${language}/${namespace}.json`
      // Keeps the value, not its promise: on Workers the request that created a promise may have ended.
      const translations = cache.get(file) ?? (JSON.parse(await readFile(file)) as Translations)
      cache.set(file, translations)
      return translations
    },
  }
}
