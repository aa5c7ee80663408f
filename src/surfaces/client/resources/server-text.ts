import type * as z from 'zod'
import { isGranted } from '../../../domain/permissions.ts'
import type { ClientServer, ServerOffers } from '../../../domain/servers/client-servers.ts'
import { renderStartup } from '../../../domain/servers/invocation.ts'
import { type JsonBytes, jsonBytes } from '../../../http/json-bytes.ts'
import { jsonText, placeOf, sharedParts, writeParts } from '../../../http/json-parts.ts'
import type { JsonText } from '../../../http/json-text.ts'
import { nullResource, type Page, type PageOf, paginationOf } from '../../../http/resource.ts'
import { EggVariableResource } from './egg-variable.ts'
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
  for (const [at, row] of page.rows.entries()) {
    if (at > 0) bytes.text(',')
    writeItem(bytes, row)
    bytes.text('}')
  }
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
  const bytes = jsonBytes(expectedBytes)
  writeItem(bytes, row)
  bytes.text(`,"meta":${meta}}`)
  return bytes.finish()
}

/** Bytes of a server with some variables. */
const expectedBytes = 6000

/** Writes a server up to the end of its attributes. */
function writeItem(bytes: JsonBytes, row: ClientServer): void {
  bytes.text(
    `{"object":"server","attributes":${writeAttributes(row)},"relationships":{"allocations":${writeAllocations(row)},"variables":`,
  )
  if (isGranted(row.permissions, 'startup.read')) writeVariables(bytes, row)
  else bytes.text(nullText)
  bytes.text(`${writeIncluded(row)}}}`)
}

/** Writes what `ServerResource` describes, in its order, up to the relationships. */
function writeAttributes(row: ClientServer): string {
  const { server, node } = row
  const { status } = server
  return (
    `{"server_owner":${row.isOwner},"identifier":"${server.uuidShort}","internal_id":${server.id}` +
    `,"uuid":"${server.uuid}","name":${jsonText(server.name)},"node":${jsonText(node.name)}` +
    `,"is_node_under_maintenance":${node.maintenanceMode},"sftp_details":{"ip":${jsonText(node.sftpDomain ?? node.fqdn)}` +
    `,"port":${node.daemonSftp},"alias":${jsonText(node.sftpDomain)}},"description":${jsonText(server.description)}` +
    `,"limits":${writeLimits(row)},"invocation":${jsonText(invocationOf(row))},"docker_image":${jsonText(server.image)}` +
    `,"egg_features":${writeFeatures(row.egg)},"feature_limits":{"databases":${server.databaseLimit}` +
    `,"allocations":${server.allocationLimit},"backups":${server.backupLimit}},"status":${jsonText(status)}` +
    `,"is_suspended":${status === 'suspended'}` +
    `,"is_installing":${status === 'installing' || status === 'install_failed'}` +
    `,"is_transferring":${row.isTransferring}`
  )
}

const writeLimits = ({ server }: ClientServer): string =>
  `{"memory":${server.memory},"swap":${server.swap},"disk":${server.disk},"io":${server.io},"cpu":${server.cpu}` +
  `,"threads":${jsonText(server.threads)},"oom_disabled":${server.oomDisabled},"oom_killer":${!server.oomDisabled}}`

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
      `${items === '' ? '' : ','}{"object":"allocation","attributes":{"id":${id},"ip":${jsonText(ip)}` +
      `,"ip_alias":${jsonText(ipAlias)},"port":${port},"notes":${jsonText(showsAll ? notes : null)},"is_default":${isDefault}}}`
  }
  return `{"object":"list","data":[${items}]}`
}

function writeVariables(bytes: JsonBytes, { server, egg }: ClientServer): void {
  const { variables: values } = server
  writeParts(bytes, variableParts(egg, Object.keys(values)), (name) => values[name] ?? null)
}

/** The list of an egg's variables that users may see, for servers with values of these. */
const variableParts = sharedParts((egg: ClientServer['egg'], names) => {
  const server = { variables: Object.fromEntries(names.map((name) => [name, placeOf(name)])) }
  const visible = egg.variables.filter(({ userViewable }) => userViewable)
  return EggVariableResource.list(visible.map((variable) => ({ variable, server })))
})

/** Features by the egg, which all servers of a page that have it share. */
const featureTexts = new WeakMap<ClientServer['egg'], string>()

function writeFeatures(egg: ClientServer['egg']): string {
  const known = featureTexts.get(egg)
  if (known !== undefined) return known
  const text = JSON.stringify(egg.features)
  featureTexts.set(egg, text)
  return text
}
