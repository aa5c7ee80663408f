import { describe, expect, it } from 'vitest'
import { readOldEnv } from '../../src/web/admin/move-in/old-env.ts'

describe('the .env of an old panel', () => {
  it.each([
    ['APP_KEY=base64:abc=\nAPP_TIMEZONE=Europe/Berlin\n', 'base64:abc=', '', 'Europe/Berlin'],
    ['APP_KEY="base64:abc=" # the key\r\nAPP_PREVIOUS_KEYS=\'a,b\'\r\n', 'base64:abc=', 'a,b', ''],
    ['export APP_KEY = base64:abc= # the key\n', 'base64:abc=', '', ''],
    ['#APP_KEY=old\nXAPP_KEY=other\nAPP_KEY=first\nAPP_KEY=second', 'second', '', ''],
    ['APP_ENV=production\n', '', '', ''],
  ])('gives the keys and the time zone: %j', (text, appKey, previousKeys, timezone) => {
    expect(readOldEnv(text)).toMatchObject({ appKey, previousKeys, timezone })
  })

  it('gives what settings, passkeys and ids need, and no credential', () => {
    const text =
      'APP_NAME=Games\nMAIL_FROM_NAME="${APP_NAME}"\nHASHIDS_SALT=salt\nDB_PASSWORD=secret\nAPP_KEY=key'
    expect(readOldEnv(text).env).toEqual({ APP_NAME: 'Games', MAIL_FROM_NAME: 'Games', HASHIDS_SALT: 'salt' })
  })
})
