import { describe, expect, it } from 'vitest'
import { EggFormatError } from '../../src/domain/eggs/format-error.ts'
import { parseEgg } from '../../src/domain/eggs/parse.ts'
import { pelican, pterodactyl, variable } from './egg-documents.ts'

async function issues(document: unknown): Promise<string[]> {
  try {
    await parseEgg(document)
  } catch (error) {
    if (error instanceof EggFormatError) return error.issues.map((issue) => issue.field)
    throw error
  }
  return []
}

describe('malformed documents', () => {
  const faults: [what: string, document: unknown, field: string][] = [
    ['null', null, 'meta.version'],
    ['a list', [], 'meta.version'],
    ['text', 'PTDL_v2', 'meta.version'],
    ['an unknown version', pterodactyl({ meta: { version: 'PTDL_v3' } }), 'meta.version'],
    ['no name', pterodactyl({ name: undefined }), 'name'],
    ['a blank name', pterodactyl({ name: '  ' }), 'name'],
    ['a long name', pterodactyl({ name: 'x'.repeat(192) }), 'name'],
    ['a name that is a number', pterodactyl({ name: 5 }), 'name'],
    ['no author', pterodactyl({ author: null }), 'author'],
    ['no image', pterodactyl({ docker_images: {} }), 'docker_images'],
    [
      'no image in v1',
      pterodactyl({ meta: { version: 'PTDL_v1' }, docker_images: undefined }),
      'docker_images',
    ],
    ['an image with bad characters', pterodactyl({ docker_images: { a: 'acme/$(id)' } }), 'docker_images.a'],
    ['an image with a line break', pterodactyl({ docker_images: { a: 'acme/a\n' } }), 'docker_images.a'],
    ['a long image', pterodactyl({ docker_images: { a: 'x'.repeat(192) } }), 'docker_images.a'],
    ['an image that is a number', pterodactyl({ docker_images: { a: 1 } }), 'docker_images.a'],
    ['no startup', pterodactyl({ startup: null }), 'startup'],
    ['no startup command', pelican({ startup_commands: {} }), 'startup_commands'],
    ['broken JSON in files', pterodactyl({ config: { files: '{' } }), 'config.files'],
    ['text as JSON in logs', pterodactyl({ config: { logs: '"x"' } }), 'config.logs'],
    ['a list as startup', pterodactyl({ config: { startup: [1] } }), 'config.startup'],
    ['done with null items', pterodactyl({ config: { startup: { done: [null] } } }), 'config.startup.done'],
    ['done as object', pterodactyl({ config: { startup: { done: {} } } }), 'config.startup.done'],
    ['stop as object', pterodactyl({ config: { stop: {} } }), 'config.stop'],
    ['features with numbers', pterodactyl({ features: [1] }), 'features'],
    ['a denylist with objects', pterodactyl({ file_denylist: [{}] }), 'file_denylist'],
    ['variables as object', pterodactyl({ variables: { a: variable } }), 'variables'],
    ['a variable that is text', pterodactyl({ variables: ['x'] }), 'variables.0'],
    ['a variable without name', pterodactyl({ variables: [{ ...variable, name: '' }] }), 'variables.0.name'],
    [
      'a bad env name',
      pterodactyl({ variables: [{ ...variable, env_variable: 'A B' }] }),
      'variables.0.env_variable',
    ],
    [
      'an env name with a hyphen',
      pterodactyl({ variables: [{ ...variable, env_variable: 'A-B' }] }),
      'variables.0.env_variable',
    ],
    [
      'a missing env name',
      pterodactyl({ variables: [{ ...variable, env_variable: null }] }),
      'variables.0.env_variable',
    ],
    [
      'a prototype as env name',
      pterodactyl({ variables: [{ ...variable, env_variable: 'constructor' }] }),
      'variables.0.env_variable',
    ],
    [
      'a reserved env name',
      pterodactyl({ variables: [variable, { ...variable, env_variable: 'server_port' }] }),
      'variables.1.env_variable',
    ],
    [
      'rules as object',
      pterodactyl({ variables: [{ ...variable, rules: { a: 'required' } }] }),
      'variables.0.rules',
    ],
    ['rules with null items', pelican({ variables: [{ ...variable, rules: [null] }] }), 'variables.0.rules'],
    [
      'a default value that is a list',
      pterodactyl({ variables: [{ ...variable, default_value: [] }] }),
      'variables.0.default_value',
    ],
    [
      'a script that is a list',
      pterodactyl({ scripts: { installation: { script: [] } } }),
      'scripts.installation.script',
    ],
    [
      'a bad script image',
      pterodactyl({ scripts: { installation: { container: 'a;b' } } }),
      'scripts.installation.container',
    ],
    ['a NUL character', pterodactyl({ description: 'a\0b' }), 'description'],
    ['a prototype key', pterodactyl({ config: JSON.parse('{"__proto__":{}}') }), 'config.__proto__'],
  ]
  for (const [what, document, field] of faults) {
    it(`with ${what} are refused for ${field}`, async () => {
      expect(await issues(document)).toContain(field)
    })
  }

  it('report every fault at once', async () => {
    const document = pterodactyl({ name: '', docker_images: {}, config: { files: '{' } })
    expect(await issues(document)).toEqual(['name', 'docker_images', 'config.files'])
  })

  it('are refused when nested too deeply or too large', async () => {
    let nested: unknown = 1
    for (let level = 0; level < 20_000; level += 1) nested = [nested]
    expect(await issues(pterodactyl({ extra: nested }))).toHaveLength(1)
    expect(await issues(pterodactyl({ extra: Array.from({ length: 6000 }, () => 1) }))).toHaveLength(1)
  })
})
