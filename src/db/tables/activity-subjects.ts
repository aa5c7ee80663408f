import { bigint, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'

/** Further subjects of an entry of the audit log: a backup, a key, an allocation. */
export const activitySubjects = pgTable(
  'activity_subjects',
  {
    activityId: bigint({ mode: 'number' }).notNull(),
    subjectType: text({
      enum: [
        'allocation',
        'announcement',
        'api_key',
        'backup',
        'database',
        'database_host',
        'egg',
        'egg_variable',
        'location',
        'mount',
        'nest',
        'node',
        'role',
        'schedule',
        'server',
        'ssh_key',
        'task',
        'user',
      ],
    }).notNull(),
    subjectId: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.activityId, t.subjectType, t.subjectId] }),
    index().on(t.subjectType, t.subjectId),
  ],
)
export type ActivitySubject = typeof activitySubjects.$inferSelect
