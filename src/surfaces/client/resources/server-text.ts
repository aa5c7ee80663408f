import type * as z from 'zod'
import { isGranted } from '../../../domain/permissions.ts'
import type { ClientServer, ServerOffers } from '../../../domain/servers/client-servers.ts'
import { renderStartup } from '../../../domain/servers/invocation.ts'
import { encodeFields, encodeJson, type JsonBytes, jsonBytes } from '../../../http/json-bytes.ts'
import { encodedOnce, placeOf, sharedParts, writeParts } from '../../../http/json-parts.ts'
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
  bytes.json`{"object":"list","data":[`
  for (const [at, row] of page.rows.entries()) {
    if (at > 0) bytes.json`,`
    writeItem(bytes, row)
    bytes.json`}`
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

/** Writes a server up to the end of its attributes, which are those of `ServerResource` in its order. */
function writeItem(bytes: JsonBytes, row: ClientServer): void {
  writeAttributes(bytes, row)
  writeAllocations(bytes, row)
  bytes.json`,"variables":`
  if (isGranted(row.permissions, 'startup.read')) writeVariables(bytes, row)
  else bytes.value(nullJson)
  writeIncluded(bytes, row)
  bytes.json`}}`
}

/** Writes the attributes up to the relationships, and the name of the first of these. */
function writeAttributes({ json }: JsonBytes, row: ClientServer): void {
  const { server, node } = row
  json`{"object":"server","attributes":{
    "server_owner":${row.isOwner},
    "identifier":${server.uuidShort},
    "internal_id":${server.id},
    "uuid":${server.uuid},
    "name":${server.name},
    ${nodeFieldsOf(node)},
    "description":${server.description},
    "limits":{
      "memory":${server.memory},
      "swap":${server.swap},
      "disk":${server.disk},
      "io":${server.io},
      "cpu":${server.cpu},
      "threads":${server.threads},
      ${server.oomDisabled ? oomDisabledFields : oomKillerFields}
    },
    "invocation":${invocationOf(row)},
    "docker_image":${server.image},
    "egg_features":${featuresOf(row.egg)},
    "feature_limits":{
      "databases":${server.databaseLimit},
      "allocations":${server.allocationLimit},
      "backups":${server.backupLimit}
    },
    ${statusFieldsOf(server.status)},
    "is_transferring":${row.isTransferring},
    "relationships":{"allocations":`
}

const oomDisabledFields = encodeFields({ oom_disabled: true, oom_killer: false })
const oomKillerFields = encodeFields({ oom_disabled: false, oom_killer: true })

/** Fields of each status. */
const statusFields = new Map<ClientServer['server']['status'], Uint8Array>()

function statusFieldsOf(status: ClientServer['server']['status']): Uint8Array {
  const known = statusFields.get(status)
  if (known) return known
  const fields = encodeFields({
    status,
    is_suspended: status === 'suspended',
    is_installing: status === 'installing' || status === 'install_failed',
  })
  statusFields.set(status, fields)
  return fields
}

/** Fields of a node, which servers of many requests share. */
const nodeFieldsOf = encodedOnce(
  ({ name, maintenanceMode, sftpDomain, fqdn, daemonSftp }: ClientServer['node']) =>
    encodeFields({
      node: name,
      is_node_under_maintenance: maintenanceMode,
      sftp_details: { ip: sftpDomain ?? fqdn, port: daemonSftp, alias: sftpDomain },
    }),
)

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
function writeIncluded(
  { json }: JsonBytes,
  { permissions, include, egg, subusers, panelUrl }: ClientServer,
): void {
  if (include.includes('egg')) json`,"egg":${encodeJson(EggResource.one(egg))}`
  if (!include.includes('subusers')) return
  const shown = () => SubuserResource.list(subusers.map((subuser) => ({ ...subuser, panelUrl })))
  json`,"subusers":${isGranted(permissions, 'user.read') ? encodeJson(shown()) : nullJson}`
}

const nullJson = encodeJson(nullResource)

/** Without the permission to read allocations, shows the primary one only. */
function writeAllocations({ json }: JsonBytes, { server, permissions, allocations }: ClientServer): void {
  const showsAll = isGranted(permissions, 'allocation.read')
  let written = 0
  json`{"object":"list","data":[`
  for (const { id, ip, ipAlias, port, notes } of allocations) {
    const isDefault = id === server.allocationId
    if (!showsAll && !isDefault) continue
    if (written > 0) json`,`
    written += 1
    json`{"object":"allocation","attributes":{
      "id":${id},
      "ip":${ip},
      "ip_alias":${ipAlias},
      "port":${port},
      "notes":${showsAll ? notes : null},
      "is_default":${isDefault}
    }}`
  }
  json`]}`
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

/** Features of an egg, which servers of many requests share. */
const featuresOf = encodedOnce((egg: ClientServer['egg']) => encodeJson(egg.features))
