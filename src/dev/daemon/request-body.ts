/** A body that is not a JSON object or has a field of the wrong type; answered with 400. */
export class BodyError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BodyError'
  }
}

/** Reads a JSON object. Throws a BodyError for anything else, an empty body included. */
export async function readBody(request: { text: () => Promise<string> }): Promise<Record<string, unknown>> {
  const text = await request.text()
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new BodyError('The body is not JSON.')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BodyError('The body is not a JSON object.')
  }
  return body as Record<string, unknown>
}

/** Reads a string, empty when absent or null. Throws a BodyError for another type. */
export function readString(body: Record<string, unknown>, name: string): string {
  const value = body[name] ?? ''
  if (typeof value !== 'string') throw new BodyError(`${name} is not a string.`)
  return value
}

/** Reads a list of strings, empty when absent or null. Throws a BodyError for another type. */
export function readStrings(body: Record<string, unknown>, name: string): string[] {
  const value = body[name] ?? []
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string')) {
    throw new BodyError(`${name} is not a list of strings.`)
  }
  return value
}

/** Reads a list of objects, empty when absent or null. Throws a BodyError for another type. */
export function readObjects(body: Record<string, unknown>, name: string): Record<string, unknown>[] {
  const value = body[name] ?? []
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'object' && entry !== null)) {
    throw new BodyError(`${name} is not a list of objects.`)
  }
  return value
}

/** Reads an integer, 0 when absent or null. Throws a BodyError for another type. */
export function readInteger(body: Record<string, unknown>, name: string): number {
  const value = body[name] ?? 0
  if (typeof value !== 'number' || !Number.isInteger(value)) throw new BodyError(`${name} is not an integer.`)
  return value
}

/** Reads a boolean, false when absent or null. Throws a BodyError for another type. */
export function readBoolean(body: Record<string, unknown>, name: string): boolean {
  const value = body[name] ?? false
  if (typeof value !== 'boolean') throw new BodyError(`${name} is not a boolean.`)
  return value
}
