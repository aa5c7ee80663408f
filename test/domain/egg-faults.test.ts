import { describe, expect, it } from 'vitest'
import { EggFormatError, type EggIssue, type EggReason } from '../../src/domain/eggs/format-error.ts'
import { parseEgg } from '../../src/domain/eggs/parse.ts'
import { parseEggYaml } from '../../src/domain/eggs/yaml.ts'
import { pelican, pterodactyl, variable } from './egg-documents.ts'

async function faultsOf(parsed: Promise<unknown>): Promise<EggIssue[]> {
  try {
    await parsed
  } catch (error) {
    if (error instanceof EggFormatError) return error.issues
    throw error
  }
  return []
}

const issues = async (document: unknown) => (await faultsOf(parseEgg(document))).map(({ field }) => field)

describe('malformed documents', () => {
  const faults: [what: string, document: unknown, field: string, reason: EggReason][] = [
    ['null', null, 'meta.version', 'egg_format_unsupported'],
    ['a list', [], 'meta.version', 'egg_format_unsupported'],
    ['text', 'PTDL_v2', 'meta.version', 'egg_format_unsupported'],
    [
      'an unknown version',
      pterodactyl({ meta: { version: 'PTDL_v3' } }),
      'meta.version',
      'egg_format_unsupported',
    ],
    ['no name', pterodactyl({ name: undefined }), 'name', 'egg_part_missing'],
    ['a blank name', pterodactyl({ name: '  ' }), 'name', 'egg_part_missing'],
    ['a long name', pterodactyl({ name: 'x'.repeat(192) }), 'name', 'egg_text_too_long'],
    ['a name that is a number', pterodactyl({ name: 5 }), 'name', 'egg_not_text'],
    ['no author', pterodactyl({ author: null }), 'author', 'egg_part_missing'],
    ['no image', pterodactyl({ docker_images: {} }), 'docker_images', 'egg_image_required'],
    [
      'no image in v1',
      pterodactyl({ meta: { version: 'PTDL_v1' }, docker_images: undefined }),
      'docker_images',
      'egg_image_required',
    ],
    [
      'an image with bad characters',
      pterodactyl({ docker_images: { a: 'acme/$(id)' } }),
      'docker_images.a',
      'egg_image_invalid',
    ],
    [
      'an image with a line break',
      pterodactyl({ docker_images: { a: 'acme/a\n' } }),
      'docker_images.a',
      'egg_image_invalid',
    ],
    [
      'a long image',
      pterodactyl({ docker_images: { a: 'x'.repeat(192) } }),
      'docker_images.a',
      'egg_image_invalid',
    ],
    [
      'an image that is a number',
      pterodactyl({ docker_images: { a: 1 } }),
      'docker_images.a',
      'egg_image_invalid',
    ],
    ['no startup', pterodactyl({ startup: null }), 'startup', 'egg_part_missing'],
    ['no startup command', pelican({ startup_commands: {} }), 'startup_commands', 'egg_command_required'],
    ['broken JSON in files', pterodactyl({ config: { files: '{' } }), 'config.files', 'egg_not_json'],
    ['text as JSON in logs', pterodactyl({ config: { logs: '"x"' } }), 'config.logs', 'egg_not_object'],
    ['a list as startup', pterodactyl({ config: { startup: [1] } }), 'config.startup', 'egg_not_object'],
    [
      'done with null items',
      pterodactyl({ config: { startup: { done: [null] } } }),
      'config.startup.done',
      'egg_not_text_or_texts',
    ],
    [
      'done as object',
      pterodactyl({ config: { startup: { done: {} } } }),
      'config.startup.done',
      'egg_not_text_or_texts',
    ],
    ['stop as object', pterodactyl({ config: { stop: {} } }), 'config.stop', 'egg_not_text'],
    ['features with numbers', pterodactyl({ features: [1] }), 'features', 'egg_not_texts'],
    ['a denylist with objects', pterodactyl({ file_denylist: [{}] }), 'file_denylist', 'egg_not_texts'],
    ['variables as object', pterodactyl({ variables: { a: variable } }), 'variables', 'egg_not_list'],
    ['a variable that is text', pterodactyl({ variables: ['x'] }), 'variables.0', 'egg_not_object'],
    [
      'a variable without name',
      pterodactyl({ variables: [{ ...variable, name: '' }] }),
      'variables.0.name',
      'egg_part_missing',
    ],
    [
      'a bad env name',
      pterodactyl({ variables: [{ ...variable, env_variable: 'A B' }] }),
      'variables.0.env_variable',
      'egg_variable_name_invalid',
    ],
    [
      'an env name with a hyphen',
      pterodactyl({ variables: [{ ...variable, env_variable: 'A-B' }] }),
      'variables.0.env_variable',
      'egg_variable_name_invalid',
    ],
    [
      'a missing env name',
      pterodactyl({ variables: [{ ...variable, env_variable: null }] }),
      'variables.0.env_variable',
      'egg_variable_name_invalid',
    ],
    [
      'a prototype as env name',
      pterodactyl({ variables: [{ ...variable, env_variable: 'constructor' }] }),
      'variables.0.env_variable',
      'egg_variable_name_invalid',
    ],
    [
      'a reserved env name',
      pterodactyl({ variables: [variable, { ...variable, env_variable: 'server_port' }] }),
      'variables.1.env_variable',
      'egg_variable_name_reserved',
    ],
    [
      'rules as object',
      pterodactyl({ variables: [{ ...variable, rules: { a: 'required' } }] }),
      'variables.0.rules',
      'egg_not_text_or_texts',
    ],
    [
      'rules with null items',
      pelican({ variables: [{ ...variable, rules: [null] }] }),
      'variables.0.rules',
      'egg_not_text_or_texts',
    ],
    [
      'a default value that is a list',
      pterodactyl({ variables: [{ ...variable, default_value: [] }] }),
      'variables.0.default_value',
      'egg_not_text',
    ],
    [
      'a script that is a list',
      pterodactyl({ scripts: { installation: { script: [] } } }),
      'scripts.installation.script',
      'egg_not_text',
    ],
    [
      'a bad script image',
      pterodactyl({ scripts: { installation: { container: 'a;b' } } }),
      'scripts.installation.container',
      'egg_image_invalid',
    ],
    ['a NUL character', pterodactyl({ description: 'a\0b' }), 'description', 'egg_nul_character'],
    [
      'a prototype key',
      pterodactyl({ config: JSON.parse('{"__proto__":{}}') }),
      'config.__proto__',
      'egg_name_forbidden',
    ],
  ]
  for (const [what, document, field, reason] of faults) {
    it(`with ${what} are refused for ${field}`, async () => {
      expect(await faultsOf(parseEgg(document))).toContainEqual(expect.objectContaining({ field, reason }))
    })
  }

  it('say what the sentence of a fault names', async () => {
    const variables = [{ ...variable, env_variable: 'SERVER_PORT' }]
    expect(await faultsOf(parseEgg(pterodactyl({ name: 'x'.repeat(192), variables })))).toEqual([
      {
        field: 'variables.0.env_variable',
        problem: 'SERVER_PORT is a reserved name',
        reason: 'egg_variable_name_reserved',
        values: { name: 'SERVER_PORT' },
      },
      {
        field: 'name',
        problem: 'is longer than 191 characters',
        reason: 'egg_text_too_long',
        values: { max: 191 },
      },
    ])
  })

  it('report every fault at once', async () => {
    const document = pterodactyl({ name: '', docker_images: {}, config: { files: '{' } })
    expect(await issues(document)).toEqual(['name', 'docker_images', 'config.files'])
  })

  it('are refused when nested too deeply or too large', async () => {
    let nested: unknown = 1
    for (let level = 0; level < 20_000; level += 1) nested = [nested]
    expect(await faultsOf(parseEgg(pterodactyl({ extra: nested })))).toMatchObject([
      { problem: 'is nested deeper than 32 levels', reason: 'egg_too_deep', values: { max: 32 } },
    ])
    const many = Array.from({ length: 6000 }, () => 1)
    expect(await faultsOf(parseEgg(pterodactyl({ extra: many })))).toMatchObject([
      {
        problem: 'exceeds the limit of 5000 members',
        reason: 'egg_too_many_members',
        values: { max: 5000 },
      },
    ])
  })
})

describe('texts that are no YAML', () => {
  it('are refused with the words of the parser and the place', async () => {
    expect(await faultsOf(parseEggYaml('name: a\nname: b'))).toEqual([
      {
        field: '',
        problem: 'is not YAML: Map keys must be unique at line 2, column 1',
        reason: 'egg_not_yaml_at',
        values: { problem: 'Map keys must be unique', line: 2, column: 1 },
      },
    ])
  })

  it.each([
    ['an unknown alias', 'a: *unknown', 'egg_not_yaml'],
    ['two documents', 'a: 1\n---\nb: 2', 'egg_not_one_document'],
    ['too much text', 'x'.repeat(1024 * 1024 + 1), 'egg_too_large'],
    ['too many marks', '['.repeat(100_000), 'egg_too_many_members'],
    ['too many levels', '- '.repeat(100), 'egg_too_deep'],
    ['a NUL character', 'a: "\\0"', 'egg_nul_character'],
    ['a prototype key', '__proto__: {admin: true}', 'egg_name_forbidden'],
  ])('are refused for %s', async (_what, text, reason) => {
    expect(await faultsOf(parseEggYaml(text))).toMatchObject([{ reason }])
  })
})
