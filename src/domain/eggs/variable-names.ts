const daemonNames = [
  'SERVER_MEMORY',
  'SERVER_IP',
  'SERVER_PORT',
  'ENV',
  'HOME',
  'USER',
  'STARTUP',
  'SERVER_UUID',
  'UUID',
]
const pelicanNames = ['P_SERVER_UUID', 'P_SERVER_ALLOCATION_LIMIT', 'MODIFIED_STARTUP', 'INTERNAL_IP']
const prototypeNames = ['__proto__', 'constructor', 'prototype']

/** Whether text may name an egg variable: 1 to 191 word characters, none that reaches a prototype. */
export function isVariableName(text: string): boolean {
  return /^\w{1,191}$/.test(text) && !prototypeNames.includes(text)
}

/** Whether panel or daemon set a variable of this name themselves; case does not matter. */
export function isReservedName(text: string): boolean {
  return daemonNames.includes(text.toUpperCase())
}

/** Like `isReservedName`, with the names which Pelican reserves as well. */
export function isReservedInPelican(text: string): boolean {
  return isReservedName(text) || pelicanNames.includes(text.toUpperCase())
}
