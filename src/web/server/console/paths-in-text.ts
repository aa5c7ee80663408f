/** A path in a text; `end` is exclusive, `path` is below the root of the server. */
export type TextPath = { path: string; start: number; end: number }

/** Files that the editor opens; the endings of archives and binaries are left out. */
const endings =
  'ya?ml|json5?|toml|properties|ini|cfg|conf|txt|log|lua|js|mjs|ts|py|sh|bat|xml|html|css|csv|md|env|sk|mcmeta|vdf'
const pattern = new RegExp(
  `(?<![\\w./:@-])(?:/home/container/|/mnt/server/|\\./)?((?:[\\w.@+-]+/)*[\\w@+-][\\w.@+-]*\\.(?:${endings}))(?![\\w/-]|\\.\\w)`,
  'g',
)

/** Finds the paths of files that the editor can open; those outside the server's folder are none. */
export function pathsIn(text: string): TextPath[] {
  return [...text.matchAll(pattern)]
    .filter(([, path = '']) => !path.split('/').includes('..'))
    .map((match) => ({
      path: `/${match[1]?.replace(/^(?:\.\/)+/, '')}`,
      start: match.index,
      end: match.index + match[0].length,
    }))
}
