import { isNewerThanCode } from '../../db/migration-state.ts'
import { compareKeys, keyCheckRow, rememberKeys } from '../../domain/operations/key-check.ts'
import { keysFit } from '../../domain/operations/rotate-keys.ts'
import { log } from '../../log.ts'
import type { Panel } from '../../panel.ts'
import type { Env } from '../env.ts'

/**
 * Checks a migrated database before anything is served. Throws when it was used with other keys: it is another one, or
 * they were lost. Only the operator's own keys over the embedded database, or over one of which the check was deleted,
 * are used in spite of it, with an error in the log. A database that a newer version has used works.
 */
export async function checkStoredState(panel: Panel, env: Env): Promise<void> {
  if (await isNewerThanCode(panel.db))
    log(
      'warn',
      'A newer version has migrated the database. This one can use it; go back to the newer one when you can.',
    )
  const compared = await compareKeys(panel)
  if (compared === 'other' || (compared === 'unknown' && !(await keysFit(panel)))) refuseOrWarn(env, compared)
  await rememberKeys(panel)
}

function refuseOrWarn(env: Env, compared: 'other' | 'unknown'): void {
  if (env.APP_KEYS === undefined) throw new Error(messageOfLostFile(env))
  if (env.DATABASE_URL && compared === 'other') throw new Error(messageOfOtherKeys)
  log(
    'error',
    'No secret in the database can be decrypted with APP_KEYS. Add the keys that the panel had before.',
  )
}

const forgetting = `run "delete from settings where key = '${keyCheckRow}'" in the database`
const consequence = 'the panel starts then, and nodes, second factors and database hosts need new secrets.'

const messageOfLostFile = ({ DATA_DIR, DATABASE_URL }: Env) =>
  `The secrets in the database need other keys than those of ${DATA_DIR}/secrets.json. Bring back that file, or its volume, from where the panel ran before. If it is lost for good, set APP_KEYS to the value of appKeys in this one${DATABASE_URL ? ` and ${forgetting}` : ''}: ${consequence}`

const messageOfOtherKeys = `The secrets in the database need other keys than those of APP_KEYS: it was used with none of them. Set DATABASE_URL to the database of this panel, or add the keys that the panel had before behind the new one in APP_KEYS. If they are lost for good, ${forgetting}: ${consequence}`
