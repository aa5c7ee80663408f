import i18next from 'i18next'
import { beforeAll, describe, expect, it } from 'vitest'
import refusals from '../../src/locales/de/refusals.json' with { type: 'json' }
import { RequestError } from '../../src/web/api/error.ts'
import { translateEntries } from '../../src/web/api/refusal-texts.ts'

beforeAll(() => i18next.init({ lng: 'de', resources: { de: { refusals } } }))

/** Translates one refusal. */
async function translate(meta: object | undefined, detail = 'In English.') {
  const [entry] = await translateEntries([{ code: 'Some', detail, ...(meta ? { meta } : {}) }])
  return entry?.detail
}

describe('a refusal in the browser', () => {
  it('is said in the language of the page, by its reason', async () => {
    expect(await translate({ reason: 'server_suspended' })).toBe('Der Server ist gesperrt.')
    expect(await translate({ reason: 'too_many_tasks', values: { max: 10 } })).toBe(
      'Ein Zeitplan kann höchstens 10 Aufgaben haben.',
    )
  })

  it('says by its rule what is wrong with a field, and names the field where it stands apart', async () => {
    const meta = { source_field: 'name', rule: 'min', values: { minimum: 3 } }
    const error = new RequestError(
      422,
      await translateEntries([{ code: 'ValidationException', detail: 'In English.', meta }]),
      null,
      null,
    )
    expect(error.fieldError('name')).toBe('Das muss mindestens 3 sein.')
    expect(error.detailsExcept(['name'])).toEqual([])
    expect(error.detailsExcept([])).toEqual(['name: Das muss mindestens 3 sein.'])
    expect(error.fieldRule('name')).toBe('min')
  })

  it('says more by a reason than by a rule', async () => {
    const meta = { source_field: 'mount', rule: 'in', reason: 'mount_not_of_egg' }
    expect(await translate(meta)).toBe('Das Egg des Servers erlaubt den Mount nicht.')
  })

  it('names the field of a document in which a fault is', async () => {
    const faultOf = async (field: string) => {
      const values = { max: 191 }
      const meta = { source_field: field, rule: 'egg_format', reason: 'egg_text_too_long', values }
      const entries = await translateEntries([{ code: 'ValidationException', detail: 'In English.', meta }])
      return new RequestError(422, entries, null, null).detailsExcept([])
    }
    expect(await faultOf('variables.0.$t(rule.min)')).toEqual([
      'variables.0.$t(rule.min): Das ist länger als 191 Zeichen.',
    ])
    expect(await faultOf('')).toEqual(['Das ist länger als 191 Zeichen.'])
  })

  it('begins with what was done before', async () => {
    const before = { reason: 'entry_failed', values: { name: 'a.txt', done: 1, total: 3 } }
    expect(await translate({ reason: 'node_slow', before })).toBe(
      'a.txt ist fehlgeschlagen, 1 von 3 sind erledigt: Die Node hat zu lange für die Antwort gebraucht.',
    )
  })

  it('takes values as they are', async () => {
    expect(await translate({ reason: 'path_protected', values: { path: '$t(rule.min) {{name}}' } })).toBe(
      'Das Egg des Servers schützt $t(rule.min) {{name}}.',
    )
  })

  it.each([
    ['no reason', undefined],
    ['a reason of a later version', { reason: 'of_a_later_version' }],
    ['a rule without a text', { source_field: 'meta', rule: 'egg_format' }],
    ['a value that is missing', { reason: 'too_many_tasks' }],
  ])('stays in English with %s', async (_what, meta) => {
    expect(await translate(meta)).toBe('In English.')
  })
})
