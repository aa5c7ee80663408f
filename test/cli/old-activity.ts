import type { Row } from './old-panel.ts'

/** A time of the last days, as MariaDB writes it. */
export const daysAgo = (days: number) =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 19).replace('T', ' ')

/** Entries of the log: of the owner about a server, about an account, and about a server that does not move. */
export const activityRows: [string, Row[]][] = [
  [
    'activity_logs',
    [
      { id: 1, event: 'server:power.start', actor_id: 5, properties: '{}' },
      { id: 2, event: 'auth:success', actor_id: 6, properties: '{"method":"password"}' },
      { id: 3, event: 'server:power.stop', actor_id: 6, properties: '[]' },
    ].map((row) => ({ ...row, ip: '203.0.113.5', actor_type: 'user', timestamp: daysAgo(4 - row.id) })),
  ],
  [
    'activity_log_subjects',
    [
      { id: 1, activity_log_id: 1, subject_type: 'server', subject_id: 30 },
      { id: 2, activity_log_id: 2, subject_type: 'user', subject_id: 6 },
      { id: 3, activity_log_id: 3, subject_type: 'server', subject_id: 33 },
    ],
  ],
]
