import type { AclResource } from '../../db/tables/api-keys.ts'
import { readEnv } from '../../platform/env.ts'
import { type Arguments, ask, columns, type Command, textOption, textsOption } from '../command.ts'
import { UsageError } from '../faults.ts'
import type { CreatedKey } from '../verbs/key-create.ts'

/** Written once more: the list itself comes with the whole of the database. */
const resources = Object.keys({
  servers: true,
  nodes: true,
  allocations: true,
  users: true,
  locations: true,
  nests: true,
  eggs: true,
  database_hosts: true,
  jobs: true,
  server_databases: true,
  settings: true,
  api_keys: true,
} satisfies Record<AclResource, true>)

/** `key:create` */
export const keyCreate: Command = {
  synopsis: 'key:create --user USER --type account|application [options]',
  summary: 'Adds an API key to an account and prints the whole bearer token, once.',
  help: `  --user USER              user name, e-mail address or id
  --type TYPE              account: for the Client API, with the rights of the account
                           application: for the Application API; administrators only
  --description TEXT
  --allowed-ip ADDRESS     address or CIDR range from which the key works; again for several,
                           every address when left out
  --acl RESOURCE=LEVEL     what an application key may do: 0 nothing, 1 read, 2 write, 3 both;
                           again for several, everything when left out, otherwise only what is named

Resources: ${resources.join(', ')}`,
  options: {
    user: { type: 'string' },
    type: { type: 'string' },
    description: { type: 'string' },
    'allowed-ip': { type: 'string', multiple: true },
    acl: { type: 'string', multiple: true },
  },
  required: ['user', 'type'],
  words: [0, 0],
  run: async (raw, given) => {
    const acl = readAcl(given)
    const key = await ask<CreatedKey>(readEnv(raw), 'key:create', {
      user: textOption(given, 'user'),
      type: textOption(given, 'type'),
      description: textOption(given, 'description'),
      allowed_ips: textsOption(given, 'allowed-ip'),
      acl,
    })
    return { text: describe(key), json: key }
  },
}

function readAcl(given: Arguments): Record<string, number> | undefined {
  const levels = textsOption(given, 'acl')?.map((text): [string, number] => {
    const [, resource = '', level] = /^(\w+)=([0-3])$/.exec(text) ?? []
    if (!resources.includes(resource)) throw new UsageError(`--acl ${text} is no RESOURCE=LEVEL.`)
    return [resource, Number(level)]
  })
  return levels && Object.fromEntries(levels)
}

const describe = (key: CreatedKey) =>
  columns([
    ['token', key.token],
    ['type', key.type],
    ['user', key.user.username],
    ...(key.acl ? [['acl', written(key.acl)] as [string, string]] : []),
  ])

const written = (acl: object) =>
  Object.entries(acl)
    .map(([resource, level]) => `${resource}=${level}`)
    .join(' ')
