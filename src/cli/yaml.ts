type Yaml = string | number | boolean | Yaml[] | { [key: string]: Yaml }

/** Formats a document as YAML with all strings in double quotes, as in JSON. Ends with a line break. */
export function toYaml(document: { [key: string]: Yaml }, indent = ''): string {
  return Object.entries(document)
    .map(([key, value]) => `${indent}${key}:${member(value, indent)}`)
    .join('')
}

function member(value: Yaml, indent: string): string {
  const isNested = typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 0
  return isNested ? `\n${toYaml(value, `${indent}  `)}` : ` ${JSON.stringify(value)}\n`
}
