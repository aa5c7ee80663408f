import type * as z from 'zod'
import { isGranted } from '../../../domain/permissions.ts'
import type { ClientServer, ServerOffers } from '../../../domain/servers/client-servers.ts'
import { renderStartup } from '../../../domain/servers/invocation.ts'
import { jsonBytes } from '../../../http/json-bytes.ts'
import type { JsonText } from '../../../http/json-text.ts'
import { nullResource, type Page, type PageOf, paginationOf } from '../../../http/resource.ts'
import { EggResource } from './egg.ts'
import type { ServerItem, ServerWithMeta } from './server.ts'
import { SubuserResource } from './subuser.ts'

/** Writes a page of servers as JSON; `url` is that of the request. */
export function writeServers(
  page: Page<ClientServer>,
  url: string,
): JsonText<PageOf<ServerItem['attributes']>> {
  const bytes = jsonBytes((page.rows.length + 1) * expectedBytes)
  bytes.text('{"object":"list","data":[')
  for (const [at, row] of page.rows.entries()) bytes.text(`${at > 0 ? ',' : ''}${writeItem(row)}}`)
  bytes.text(`],"meta":{"pagination":${JSON.stringify(paginationOf(page, url))}}}`)
  return bytes.finish()
}

/** Writes a server with the caller's permissions as JSON. */
export function writeServerWithMeta(
  row: ClientServer & { offers: ServerOffers },
): JsonText<z.output<ReturnType<typeof ServerWithMeta>>> {
  const { databases, allocations, consoleShare } = row.offers
  const meta = JSON.stringify({
    is_server_owner: row.isOwner,
    user_permissions: row.permissions,
    offers: { databases, allocations, console_share: consoleShare },
  })
  return `${writeItem(row)},"meta":${meta}}`
}

/** Bytes of a server with some variables. */
const expectedBytes = 6000

/** Writes a server up to the end of its attributes. */
function writeItem(row: ClientServer): string {
  const variables = isGranted(row.permissions, 'startup.read') ? writeVariables(row) : nullText
  return (
    `{"object":"server","attributes":${writeAttributes(row)},"relationships":{"allocations":${writeAllocations(row)}` +
    `,"variables":${variables}${writeIncluded(row)}}}`
  )
}

/** Writes a text, or null. */
const write = (value: string | null): string => JSON.stringify(value)

/** Writes what `ServerResource` describes, in its order, up to the relationships. */
function writeAttributes(row: ClientServer): string {
  const { server, node } = row
  const { status } = server
  return (
    `{"server_owner":${row.isOwner},"identifier":${write(server.uuidShort)},"internal_id":${server.id}` +
    `,"uuid":${write(server.uuid)},"name":${write(server.name)},"node":${write(node.name)}` +
    `,"is_node_under_maintenance":${node.maintenanceMode},"sftp_details":{"ip":${write(node.sftpDomain ?? node.fqdn)}` +
    `,"port":${node.daemonSftp},"alias":${write(node.sftpDomain)}},"description":${write(server.description)}` +
    `,"limits":${writeLimits(row)},"invocation":${write(invocationOf(row))},"docker_image":${write(server.image)}` +
    `,"egg_features":${eggTextsOf(row.egg).features},"feature_limits":{"databases":${server.databaseLimit}` +
    `,"allocations":${server.allocationLimit},"backups":${server.backupLimit}},"status":${write(status)}` +
    `,"is_suspended":${status === 'suspended'}` +
    `,"is_installing":${status === 'installing' || status === 'install_failed'}` +
    `,"is_transferring":${row.isTransferring}`
  )
}

const writeLimits = ({ server }: ClientServer): string =>
  `{"memory":${server.memory},"swap":${server.swap},"disk":${server.disk},"io":${server.io},"cpu":${server.cpu}` +
  `,"threads":${write(server.threads)},"oom_disabled":${server.oomDisabled},"oom_killer":${!server.oomDisabled}}`

function invocationOf(row: ClientServer): string {
  const { server, egg } = row
  const allocation = row.allocations.find(({ id }) => id === server.allocationId)
  if (!allocation) throw new Error('A server does not hold its primary allocation.')
  return renderStartup(
    { server, variables: egg.variables, allocation },
    { hideVariables: !isGranted(row.permissions, 'startup.read') },
  )
}

/** Writes the relationships that the request includes. */
function writeIncluded({ permissions, include, egg, subusers, panelUrl }: ClientServer): string {
  let included = ''
  if (include.includes('egg')) included += `,"egg":${JSON.stringify(EggResource.one(egg))}`
  if (include.includes('subusers')) {
    const shown = () => SubuserResource.list(subusers.map((subuser) => ({ ...subuser, panelUrl })))
    included += `,"subusers":${isGranted(permissions, 'user.read') ? JSON.stringify(shown()) : nullText}`
  }
  return included
}

const nullText = JSON.stringify(nullResource)

/** Without the permission to read allocations, shows the primary one only. */
function writeAllocations({ server, permissions, allocations }: ClientServer): string {
  const showsAll = isGranted(permissions, 'allocation.read')
  let items = ''
  for (const { id, ip, ipAlias, port, notes } of allocations) {
    const isDefault = id === server.allocationId
    if (!showsAll && !isDefault) continue
    items +=
      `${items === '' ? '' : ','}{"object":"allocation","attributes":{"id":${id},"ip":${write(ip)}` +
      `,"ip_alias":${write(ipAlias)},"port":${port},"notes":${write(showsAll ? notes : null)},"is_default":${isDefault}}}`
  }
  return `{"object":"list","data":[${items}]}`
}

function writeVariables({ server, egg }: ClientServer): string {
  const { variables: values } = server
  let text = ''
  for (const { before, name } of variableTextsOf(egg, values))
    text += name === null ? before : before + write(values[name] ?? null)
  return text
}

/** A part of the list of variables, in front of the server's value of the named one; the last has none. */
type VariablesText = { before: string; name: string | null }
/** What servers with the same egg share; `variables` by the names of those that have a value. */
type EggTexts = { features: string; variables: Map<string, VariablesText[]> }

/** By the egg, which all servers of a page that have it share. */
const eggTexts = new WeakMap<ClientServer['egg'], EggTexts>()

function eggTextsOf(egg: ClientServer['egg']): EggTexts {
  const known = eggTexts.get(egg)
  if (known) return known
  const texts = { features: JSON.stringify(egg.features), variables: new Map() }
  eggTexts.set(egg, texts)
  return texts
}

/** Sets of names that are kept of an egg, which can outlive a request. */
const maxVariableTexts = 50

/** Returns the list of variables in parts, which is the same for all servers that have values of the same ones. */
function variableTextsOf(egg: ClientServer['egg'], values: Record<string, unknown>): VariablesText[] {
  const { variables } = eggTextsOf(egg)
  // PostgreSQL keeps names in one order, and no text of it has this character.
  const names = Object.keys(values).join('\0')
  const known = variables.get(names)
  if (known) return known
  const texts = writeVariableTexts(egg, values)
  if (variables.size >= maxVariableTexts) variables.clear()
  variables.set(names, texts)
  return texts
}

/** Writes what `EggVariableResource` describes, in its order. */
function writeVariableTexts(egg: ClientServer['egg'], values: Record<string, unknown>): VariablesText[] {
  const texts: VariablesText[] = []
  let parts = ['{"object":"list","data":[']
  const visible = egg.variables.filter(({ userViewable }) => userViewable)
  for (const [at, variable] of visible.entries()) {
    parts.push(
      `${at === 0 ? '' : ','}{"object":"egg_variable","attributes":{"name":${write(variable.name)}`,
      `,"description":${write(variable.description)},"env_variable":${write(variable.envVariable)}`,
      `,"default_value":${write(variable.defaultValue)},"server_value":`,
    )
    if (Object.hasOwn(values, variable.envVariable)) {
      // Joined, since a sum stays a tree of its parts, which each answer would walk through.
      texts.push({ before: parts.join(''), name: variable.envVariable })
      parts = []
    } else parts.push('null')
    parts.push(`,"is_editable":${variable.userEditable},"rules":${write(variable.rules)}}}`)
  }
  texts.push({ before: `${parts.join('')}]}`, name: null })
  return texts
}
