import { sql } from 'drizzle-orm'
import { apiKeys, recoveryTokens, roles, sshKeys, users } from '../../db/schema.ts'
import type { Acl, AclResource } from '../../db/tables/api-keys.ts'
import { maxMovedTokens } from '../../domain/auth/recovery-tokens.ts'
import { digest } from '../../domain/secrets.ts'
import { identityStep } from './identities.ts'
import { findLanguage } from './languages.ts'
import { cutTo, findFirst, hasParent, type Move, type MovedRow, readSecret, type Step } from './move.ts'
import { passkeyStep } from './passkeys.ts'
import type { SourceRow } from './spool.ts'
import { dateOf, isTrue, isUuid, listOf, numberOf, textOf, textOrNull, timesOf } from './values.ts'

const rootRole = 'Root Admin'

/** What the permissions of a Pelican role are about, as resources of this panel. */
const pelicanModels: Record<string, AclResource[]> = {
  server: ['servers', 'server_databases'],
  user: ['users'],
  node: ['nodes'],
  allocation: ['allocations'],
  egg: ['eggs', 'nests'],
  databasehost: ['database_hosts'],
  database: ['server_databases'],
  mount: ['mounts'],
  apikey: ['api_keys'],
  role: ['administrators'],
}

function mapRole(row: SourceRow, move: Move): MovedRow | null {
  const name = textOf(row, 'name')
  if (name === rootRole) return null
  const acl: Acl = {}
  for (const permission of move.facts.rolePermissions.get(Number(row.id)) ?? []) {
    const [verb = '', model = ''] = permission.split(' ')
    const level = verb.toLowerCase().startsWith('view') ? 1 : 3
    for (const resource of pelicanModels[model.toLowerCase()] ?? []) {
      if ((acl[resource] ?? 0) < level) acl[resource] = level
    }
  }
  move.report.change('roles', Number(row.id), 'permissions become read, or read and write, of each resource')
  return {
    values: { id: Number(row.id), name: cutTo(move, 'roles', row, 'name', 255), acl, ...timesOf(row) },
  }
}

function mapUser(row: SourceRow, move: Move): MovedRow | null {
  const [id, uuid] = [Number(row.id), textOf(row, 'uuid').toLowerCase()]
  if (!isUuid(uuid)) {
    move.report.refuse('users', id, 'the uuid is not one')
    return null
  }
  const roleIds = move.facts.userRoles.get(id) ?? []
  const isRoot = roleIds.some((role) => move.facts.roleNames.get(role) === rootRole)
  const language = findLanguage(textOf(row, 'language'))
  if (language === null) move.report.change('users', id, 'has a language that is not installed: becomes en')
  const secondFactor = mapSecondFactor(row, move, uuid)
  if (!secondFactor) return null
  return {
    values: {
      id,
      uuid,
      externalId: externalIdOf(row, move),
      username: textOf(row, 'username').toLowerCase(),
      email: textOf(row, 'email'),
      // The old panel does not tell which were proved, and all could sign in.
      emailVerifiedAt: dateOf(row, 'created_at') ?? new Date(0),
      firstName: textOrNull(row, 'name_first') ?? textOf(row, 'username'),
      lastName: textOf(row, 'name_last'),
      passwordHash: textOrNull(row, 'password'),
      language: language ?? 'en',
      rootAdmin: isTrue(row, 'root_admin') || isRoot,
      roleId: isRoot ? null : (roleIds.find((role) => move.moved.get('roles')?.has(role)) ?? null),
      ...secondFactor.values,
      ...timesOf(row),
    },
    ...(secondFactor.secrets && { secrets: secondFactor.secrets }),
  }
}

/** Here an external id names one user: of several there it stays with the first. */
function externalIdOf(row: SourceRow, move: Move): string | null {
  const externalId = textOrNull(row, 'external_id')
  if (externalId === null) return null
  const first = findFirst(move, 'external ids of users', Number(row.id), [externalId])
  if (first === null) return externalId
  move.report.change('users', Number(row.id), `loses its external id, which is that of row ${first}`)
  return null
}

/** A secret without `use_totp` is an unfinished set-up, and is left out. */
function mapSecondFactor(row: SourceRow, move: Move, uuid: string): MovedRow | null {
  const column = move.kind === 'pelican' ? 'mfa_app_secret' : 'totp_secret'
  const isOn = row[column] !== null && (move.kind === 'pelican' || isTrue(row, 'use_totp'))
  if (!isOn) return { values: { totpEnabledAt: null, totpSecret: null } }
  const plain = readSecret(move, 'users', row, column)
  if (plain === null) return null
  const totpEnabledAt =
    dateOf(row, 'totp_authenticated_at') ??
    dateOf(row, 'updated_at') ??
    dateOf(row, 'created_at') ??
    new Date(0)
  move.recoveryCodes.set(Number(row.id), 0)
  const location = { table: 'users', column: 'totp_secret', row: uuid } as const
  return { values: { totpEnabledAt }, secrets: [{ column: 'totpSecret', plain, location }] }
}

const aclColumns = {
  servers: 'r_servers',
  nodes: 'r_nodes',
  allocations: 'r_allocations',
  users: 'r_users',
  locations: 'r_locations',
  nests: 'r_nests',
  eggs: 'r_eggs',
  database_hosts: 'r_database_hosts',
  server_databases: 'r_server_databases',
} as const

const maxAddresses = 1000

/** Types 1, and the old 0, 3 and 4, authenticate on the Client API; 2 on the Application API. */
function mapApiKey(row: SourceRow, move: Move): MovedRow | null {
  if (!hasParent(move, 'api_keys', row, 'user_id', 'users')) return null
  const [id, identifier] = [Number(row.id), textOf(row, 'identifier')]
  if (identifier.length !== 16) {
    move.report.leaveOut('api_keys', id, 'has no identifier of 16 characters, so it worked no more')
    return null
  }
  const secret = readSecret(move, 'api_keys', row, 'token')
  if (secret === null) return null
  const isApplication = numberOf(row, 'key_type') === 2
  const addresses = listOf(row, 'allowed_ips')
  if (addresses.length > maxAddresses) {
    move.report.refuse('api_keys', id, `has more than ${maxAddresses} addresses`)
    return null
  }
  return {
    values: {
      id,
      userId: Number(row.user_id),
      type: isApplication ? 'application' : 'account',
      identifier,
      secretHash: digest(secret),
      description: textOf(row, 'memo'),
      allowedIps: addresses,
      acl: isApplication ? aclOf(row, move) : {},
      lastUsedAt: dateOf(row, 'last_used_at'),
      expiresAt: dateOf(row, 'expires_at'),
      ...timesOf(row),
    },
  }
}

function aclOf(row: SourceRow, move: Move): Record<string, number> {
  const pelican =
    move.kind === 'pelican' ? (JSON.parse(textOf(row, 'permissions') || '{}') as Record<string, number>) : {}
  const levels = Object.entries(aclColumns).map(([resource, column]) => [
    resource,
    move.kind === 'pelican' ? Number(pelican[resource.replace(/s$/, '')] ?? 0) : numberOf(row, column),
  ])
  return Object.fromEntries(levels) as Record<string, number>
}

function mapSshKey(row: SourceRow, move: Move): MovedRow | null {
  if (!hasParent(move, 'user_ssh_keys', row, 'user_id', 'users')) return null
  if (dateOf(row, 'deleted_at')) {
    move.report.leaveOut('user_ssh_keys', Number(row.id), 'was deleted')
    return null
  }
  const [id, userId] = [Number(row.id), Number(row.user_id)]
  const fingerprint = textOf(row, 'fingerprint')
    .replace(/^SHA256:/, '')
    .replace(/=+$/, '')
  const first = findFirst(move, 'user_ssh_keys', id, [userId, fingerprint])
  if (first !== null) {
    move.report.leaveOut('user_ssh_keys', id, `is the key of row ${first}`)
    return null
  }
  return {
    values: {
      id,
      userId,
      name: textOf(row, 'name'),
      fingerprint,
      publicKey: textOf(row, 'public_key'),
      ...timesOf(row),
    },
  }
}

const bcryptPattern = /^\$2[abxy]\$\d\d\$.{53}$/

/** A recovery code as both panels hash it. A user without a second factor has no use for it. */
function moveRecoveryCode(move: Move, id: number, userId: number, hash: string): MovedRow | null {
  const count = move.recoveryCodes.get(userId)
  const reason =
    count === undefined
      ? 'its user has no second factor'
      : count >= maxMovedTokens
        ? `its user has ${maxMovedTokens} others`
        : bcryptPattern.test(hash)
          ? null
          : 'is no bcrypt hash'
  if (reason !== null) {
    move.report.leaveOut('recovery_tokens', id, reason)
    return null
  }
  move.recoveryCodes.set(userId, (count ?? 0) + 1)
  return { values: { userId, tokenHash: hash } }
}

const mapRecoveryToken = (row: SourceRow, move: Move): MovedRow | null =>
  moveRecoveryCode(move, Number(row.id), Number(row.user_id), textOf(row, 'token'))

/** Pelican has one sealed list for each user. */
function mapRecoveryList(row: SourceRow, move: Move): MovedRow[] | null {
  const id = Number(row.id)
  if (!move.recoveryCodes.has(id) || !textOrNull(row, 'mfa_app_recovery_codes')) return null
  const plain = readSecret(move, 'users', row, 'mfa_app_recovery_codes')
  const hashes = listOf({ plain }, 'plain')
  return hashes.flatMap((hash) => moveRecoveryCode(move, id, id, hash) ?? [])
}

/** Roles of Pelican, users with their recovery codes, their keys for the API and for SFTP, in this order. */
export const accountSteps = (kind: Move['kind']): Step[] => [
  { source: 'roles', target: roles, unique: ['name'], lengths: { name: 255 }, map: mapRole },
  {
    source: 'users',
    target: users,
    unique: ['uuid', 'username', 'email'],
    lengths: { externalId: 255 },
    changing: ['passwordHash', 'emailVerifiedAt', 'totpEnabledAt'],
    map: mapUser,
  },
  {
    source: kind === 'pelican' ? 'users' : 'recovery_tokens',
    target: recoveryTokens,
    key: ['userId', 'tokenHash'],
    map: kind === 'pelican' ? mapRecoveryList : mapRecoveryToken,
  },
  {
    source: 'api_keys',
    target: apiKeys,
    unique: ['identifier'],
    unsettled: ['lastUsedAt'],
    map: mapApiKey,
    after: async (tx) => {
      await tx.db.execute(sql`update users set api_key_count = least(25, (
        select count(*) from api_keys where api_keys.user_id = users.id and api_keys.type = 'account'))`)
    },
  },
  { source: 'user_ssh_keys', target: sshKeys, map: mapSshKey },
  ...(kind === 'pelican' ? [passkeyStep, identityStep] : []),
]
