import type { OpenedDatabase } from '../../src/platform/postgres.ts'

/** To be served by the neon driver. */
export async function openNeonForTests(
  _url: string,
  _onStatement: (text: string) => void,
): Promise<OpenedDatabase> {
  throw new Error('The neon driver is not set up.')
}
