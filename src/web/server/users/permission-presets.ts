/** Common sets of permissions, each including those before it. */
const viewer = [
  'websocket.connect',
  'activity.read',
  'allocation.read',
  'startup.read',
  'backup.read',
  'schedule.read',
]
const moderator = [...viewer, 'control.console', 'control.start', 'control.restart', 'control.stop']
const builder = [
  ...moderator,
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

export const presets = { watching: viewer, moderating: moderator, building: builder } as const
export type Preset = keyof typeof presets
