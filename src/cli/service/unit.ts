import { join } from 'node:path'

/** What differs between the units of two installations; paths are absolute. */
export type UnitOptions = {
  name: string
  /** The account; null has systemd make one for each run. */
  user: string | null
  node: string
  /** The folder that holds `dist`. */
  root: string
  dataDir: string
  envFile: string
  port: number | null
}

const stateFolder = '/var/lib/'

/** Options of Node that keep memory, as `npm start` has them: docs/operations.md#memory. */
const nodeOptions = '--expose-gc --liftoff-only --max-semi-space-size=24 --max-old-space-size=1024'

/** Whether systemd itself makes and owns this data directory, as it does below /var/lib. */
export const isStateDirectory = (path: string): boolean => path.startsWith(stateFolder)

/** Returns the text of a hardened systemd unit: docs/systemd.md#what-the-unit-restricts. */
export function unitOf({ name, user, node, root, dataDir, envFile, port }: UnitOptions): string {
  const isState = isStateDirectory(dataDir)
  const bindsLowPort = port !== null && port < 1024
  const capability = bindsLowPort ? 'CAP_NET_BIND_SERVICE' : ''
  const lines = [
    '[Unit]',
    'Description=Roost, a panel for game servers',
    'Wants=network-online.target',
    'After=network-online.target postgresql.service redis-server.service valkey-server.service',
    '# What is missing may come: it is tried for ever.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=notify',
    '# Messages come from systemd-notify, a child of the panel.',
    'NotifyAccess=all',
    `ExecStart=${node} ${nodeOptions} ${join(root, 'dist/server/main.mjs')}`,
    'ExecReload=/bin/kill -HUP $MAINPID',
    `WorkingDirectory=${root}`,
    `Environment=MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576 DEMO=false DATA_DIR=${dataDir}${port === null ? '' : ` PORT=${port}`}`,
    `EnvironmentFile=${envFile}`,
    ...(user === null ? ['DynamicUser=yes'] : [`User=${user}`]),
    ...(isState
      ? [`StateDirectory=${dataDir.slice(stateFolder.length)}`, 'StateDirectoryMode=0700']
      : [`ReadWritePaths=${dataDir}`]),
    ...running,
    `SyslogIdentifier=${name}`,
    '',
    ...hardening,
    `CapabilityBoundingSet=${capability}`,
    `AmbientCapabilities=${capability}`,
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ]
  return lines.join('\n')
}

/** MemoryDenyWriteExecute is left out: the compiler of V8 writes code that it runs. */
const hardening = [
  'NoNewPrivileges=yes',
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'ProtectKernelTunables=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelLogs=yes',
  'ProtectControlGroups=yes',
  'ProtectClock=yes',
  'ProtectHostname=yes',
  'ProtectProc=invisible',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
  'RemoveIPC=yes',
  'KeyringMode=private',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallFilter=~@privileged',
  'SystemCallErrorNumber=EPERM',
]

/** How the service starts, is watched and ends. */
const running = [
  'UMask=0077',
  'Restart=on-failure',
  'RestartSec=5',
  '# The start may wait for its database.',
  'TimeoutStartSec=infinity',
  'TimeoutStopSec=45',
  'KillMode=mixed',
  'WatchdogSec=60',
  'LimitNOFILE=65536',
  'LimitCORE=0',
]
