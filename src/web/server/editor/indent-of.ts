/** Returns what the text indents its first level with: two to eight spaces, else two. */
export function indentOf(text: string): string {
  const found = /\n( {2,8})\S/.exec(text)?.[1]
  return found ?? '  '
}
