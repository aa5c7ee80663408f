import type { Allocation } from '../../src/db/tables/allocations.ts'
import type { EggVariable } from '../../src/db/tables/egg-variables.ts'
import type { Egg } from '../../src/db/tables/eggs.ts'
import type { Location } from '../../src/db/tables/locations.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import type { ServerConfigurationRows } from '../../src/domain/servers/configuration.ts'

const times = { createdAt: new Date(0), updatedAt: new Date(0) }

/** Builds an egg row with only the required columns. */
export function eggRow(values: Partial<Egg> = {}): Egg {
  return {
    id: 4,
    uuid: '0c2f7a10-9b1d-4e55-8a3e-6f0d2b1c4e7a',
    nestId: 1,
    author: 'eggs@roost.example',
    name: 'Plain',
    description: null,
    features: null,
    dockerImages: { Java: 'ghcr.io/acme/java:21' },
    fileDenylist: [],
    updateUrl: null,
    configFiles: null,
    configStartup: null,
    configLogs: null,
    configStop: null,
    configFrom: null,
    startup: 'java -jar {{SERVER_JARFILE}}',
    scriptContainer: 'alpine:3.4',
    copyScriptFrom: null,
    scriptEntry: 'ash',
    scriptIsPrivileged: true,
    queryGame: null,
    icon: null,
    scriptInstall: null,
    documentLayout: null,
    seededChecksum: null,
    forceOutgoingIp: false,
    commandSnippets: [],
    ...times,
    ...values,
  }
}

/** Builds a server row of `eggRow` on node 3 with allocation 41. */
export function serverRow(values: Partial<Server> = {}): Server {
  return {
    id: 7,
    uuid: '5b0f3c1e-2f7d-4a6e-9c3b-7d1e2f3a4b5c',
    uuidShort: '5b0f3c1e',
    externalId: null,
    nodeId: 3,
    ownerId: 12,
    eggId: 4,
    allocationId: 41,
    name: 'Skyblock',
    description: '',
    status: null,
    skipScripts: false,
    memory: 4096,
    swap: 0,
    disk: 20480,
    io: 500,
    cpu: 200,
    threads: null,
    oomDisabled: true,
    startup: 'java -jar {{SERVER_JARFILE}}',
    image: 'ghcr.io/acme/java:21',
    variables: {},
    databaseLimit: 2,
    allocationLimit: 3,
    backupLimit: 4,
    installedAt: null,
    ...times,
    ...values,
  }
}

/** Builds a variable that users may view and edit. */
export function variableRow(envVariable: string, values: Partial<EggVariable> = {}): EggVariable {
  return {
    id: 9,
    eggId: 4,
    name: envVariable,
    description: '',
    envVariable,
    defaultValue: '',
    userViewable: true,
    userEditable: true,
    rules: 'nullable|string',
    ...times,
    ...values,
  }
}

/** Builds an allocation of `serverRow` on its node. */
export function allocationRow(
  id: number,
  ip: string,
  port: number,
  values: Partial<Allocation> = {},
): Allocation {
  return { id, nodeId: 3, ip, ipAlias: null, port, serverId: 7, notes: null, ...times, ...values }
}

export const location: Location = { id: 1, short: 'ams', long: 'Amsterdam', region: null, ...times }

/** Builds the rows of one server, with defaults for what is not given. */
export function serverRows(values: Partial<ServerConfigurationRows> = {}): ServerConfigurationRows {
  return {
    server: serverRow(),
    egg: eggRow(),
    configFrom: null,
    variables: [],
    allocations: [allocationRow(41, '203.0.113.9', 25565)],
    mounts: [],
    location,
    ...values,
  }
}
