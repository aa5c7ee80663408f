import { Hono } from 'hono'
import { changeSettings, readSettings, SettingsChanges } from '../../domain/settings.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { body, returns, summary } from '../../http/route.ts'
import { acl } from './env.ts'
import { SettingsResource } from './resources/settings.ts'

/** What an administrator switches on and off. Spec: General conventions, 5. */
export const settings = new Hono<HttpEnv>()
  .get(
    '/',
    summary('Show all settings; of secrets only whether they are set'),
    acl('settings', 'read'),
    returns(200, SettingsResource.One),
    async (c) => c.json(SettingsResource.one(await readSettings(c.var.panel))),
  )

  .patch(
    '/',
    summary('Change the settings that are sent; null goes back to the default'),
    acl('settings', 'write'),
    body(SettingsChanges),
    returns(200, SettingsResource.One),
    async (c) => c.json(SettingsResource.one(await changeSettings(c.var.panel, c.req.valid('json')))),
  )
