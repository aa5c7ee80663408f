import type { AclResource } from '../../db/tables/api-keys.ts'
import { readEnv } from '../../platform/env.ts'
import {
  type CommandArguments,
  callOperation,
  columns,
  type Command,
  textOption,
  textsOption,
} from '../command.ts'
import { UsageError } from '../faults.ts'
import type { CreatedKey } from '../operations/key-create.ts'

/** A copy of `aclResources`, whose module would load the database layer. */
const resourceNames = Object.keys({
  servers: true,
  users: true,
  administrators: true,
  nodes: true,
  locations: true,
  allocations: true,
  nests: true,
  eggs: true,
  database_hosts: true,
  server_databases: true,
  settings: true,
  jobs: true,
  api_keys: true,
  activity: true,
  mounts: true,
  announcements: true,
  webhooks: true,
} satisfies Record<AclResource, true>)

/** `key:create` */
export const keyCreate: Command = {
  synopsis: 'key:create --user USER --type account|application [options]',
  summary: 'Adds an API key to an account and prints its bearer token, once.',
  help: `  --user USER              user name, e-mail address or id
  --type TYPE              account: for the Client API, with the permissions of the account
                           application: for the Application API; administrators only
  --description TEXT
  --allowed-ip ADDRESS     address or CIDR range from which the key may be used; repeatable.
                           Default: every address
  --acl RESOURCE=LEVEL     access of an application key: 0 none, 1 read, 2 write, 3 both; repeatable.
                           Default: 3 for all resources; with --acl, 0 for all others

Resources: ${resourceNames.join(', ')}`,
  options: {
    user: { type: 'string' },
    type: { type: 'string' },
    description: { type: 'string' },
    'allowed-ip': { type: 'string', multiple: true },
    acl: { type: 'string', multiple: true },
  },
  required: ['user', 'type'],
  positionals: [0, 0],
  run: async (raw, args) => {
    const acl = readAcl(args)
    const key = await callOperation<CreatedKey>(readEnv(raw), args, 'key:create', {
      user: textOption(args, 'user'),
      type: textOption(args, 'type'),
      description: textOption(args, 'description'),
      allowed_ips: textsOption(args, 'allowed-ip'),
      acl,
    })
    return { text: formatKey(key), json: key }
  },
}

function readAcl(args: CommandArguments): Record<string, number> | undefined {
  const levels = textsOption(args, 'acl')?.map((text): [string, number] => {
    const [, resource = '', level] = /^(\w+)=([0-3])$/.exec(text) ?? []
    if (!resourceNames.includes(resource)) throw new UsageError(`--acl ${text} is not RESOURCE=LEVEL.`)
    return [resource, Number(level)]
  })
  return levels && Object.fromEntries(levels)
}

const formatKey = (key: CreatedKey) =>
  columns([
    ['token', key.token],
    ['type', key.type],
    ['user', key.user.username],
    ...(key.acl ? [['acl', formatAcl(key.acl)] as [string, string]] : []),
  ])

const formatAcl = (acl: object) =>
  Object.entries(acl)
    .map(([resource, level]) => `${resource}=${level}`)
    .join(' ')
