const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const shortPattern = /^[0-9a-f]{8}$/i

/** What callers name a server by, for a statement to look up: its uuid or the first eight characters of it. */
export const serverNames = (name: string | null): { uuid: string | null; short: string | null } => ({
  uuid: name !== null && uuidPattern.test(name) ? name : null,
  short: name !== null && shortPattern.test(name) ? name.toLowerCase() : null,
})
