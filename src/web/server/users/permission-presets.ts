/** Sets of permissions that hosts are asked for most, each with all of those before it. */
const watching = [
  'websocket.connect',
  'activity.read',
  'allocation.read',
  'startup.read',
  'backup.read',
  'schedule.read',
]
const moderating = [...watching, 'control.console', 'control.start', 'control.restart', 'control.stop']
const building = [
  ...moderating,
  'file.create',
  'file.read',
  'file.read-content',
  'file.update',
  'file.delete',
  'file.archive',
  'file.sftp',
  'backup.create',
  'backup.download',
  'startup.update',
  'schedule.create',
  'schedule.update',
]

export const presets = { watching, moderating, building } as const
export type Preset = keyof typeof presets
