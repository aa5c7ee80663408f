import { sql, type SQL } from 'drizzle-orm'
import { jobs, sessions, settings } from '../../db/schema.ts'
import { progressKey } from '../../domain/setup/progress.ts'

const sessionPaths = ['{challenge,userId}', '{oauth,userId}']

/**
 * Updates of ids that stand in JSON and in keys, where no column names them, by the table of the old panel. Each is for a
 * statement with the pairs `ids (old, new)`.
 */
export const storedIds: Partial<Record<string, SQL[]>> = {
  users: [
    // A key that stayed would hold back the job of the account that gets the id.
    sql`update ${jobs} set payload = jsonb_set(payload, '{userId}', to_jsonb(ids.new)),
        key = regexp_replace(key, '^(email-verification|server-access:[0-9]+):' || ids.old || '$', '\\1:' || ids.new)
      from ids where state = 'waiting' and payload ->> 'userId' = ids.old::text`,
    ...sessionPaths.map(
      (path) => sql`update ${sessions} set data = jsonb_set(data, ${path}::text[], to_jsonb(ids.new))
        from ids where data #>> ${path}::text[] = ids.old::text`,
    ),
  ],
  locations: [
    sql`update ${jobs} set payload = jsonb_set(payload, '{locationIds}', (
        select coalesce(jsonb_agg(coalesce(ids.new, location::int)), '[]')
        from jsonb_array_elements_text(payload -> 'locationIds') as location left join ids on ids.old = location::int))
      where state = 'waiting' and jsonb_typeof(payload -> 'locationIds') = 'array'`,
  ],
  eggs: [
    sql`update ${settings} set value = jsonb_set(value, '{eggId}', to_jsonb(ids.new))
      from ids where key = ${progressKey} and value ->> 'eggId' = ids.old::text`,
  ],
}
