/** Texts by name, in groups. i18next's format: `{{name}}` stands for a value, `_one`, `_few` … for a number's form. */
export type Texts = { [name: string]: string | Texts }

/** Where the texts of the application are: too many to be part of a function. */
export type TextFiles = {
  /** The file of a language and namespace, both of which the panel knows: no word of a caller becomes a path. */
  read: (language: string, namespace: string) => Promise<Texts>
}

/** The files as `fetch` finds them at addresses below `base`; each is fetched once. Throws when one is not there. */
export function fetchedTexts(fetchFile: (address: string) => Promise<Response>, base: string): TextFiles {
  return keepTexts(async (file) => {
    const answer = await fetchFile(`${base}${file}`)
    if (!answer.ok) throw new Error(`The texts ${file} are not there: ${answer.status}.`)
    return answer.text()
  })
}

/** The files as `readFile` gives them by their path below the folder of locales; each is read once. */
export function keepTexts(readFile: (file: string) => Promise<string>): TextFiles {
  const kept = new Map<string, Texts>()
  return {
    read: async (language, namespace) => {
      const file = `${language}/${namespace}.json`
      // The value is kept, not its promise: on Workers the request that made a promise may be gone.
      const texts = kept.get(file) ?? (JSON.parse(await readFile(file)) as Texts)
      kept.set(file, texts)
      return texts
    },
  }
}
