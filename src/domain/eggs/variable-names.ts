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
/** Names that reach the prototype of an object (IN-6). */
export const prototypeNames = ['__proto__', 'constructor', 'prototype']

/** Whether text can name an egg variable: 1 to 191 word characters that do not reach a prototype. */
export function isVariableName(text: string): boolean {
  return /^\w{1,191}$/.test(text) && !prototypeNames.includes(text)
}

/** Whether the panel or the daemon sets a variable of this name itself; case is ignored. */
export function isReservedName(text: string): boolean {
  return daemonNames.includes(text.toUpperCase())
}

/** Whether a name is reserved here or in Pelican. */
export function isReservedInPelican(text: string): boolean {
  return isReservedName(text) || pelicanNames.includes(text.toUpperCase())
}
