import { Hono } from 'hono'
import { changeSettings, readPublicSettings, SettingsChanges } from '../../domain/settings/settings.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { body, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { SettingsResource } from './resources/settings.ts'

/** The settings of the panel. Spec: docs/api.md#features. */
export const settings = new Hono<HttpEnv>()
  .get(
    '/',
    summary('Show the settings; secrets only show whether they are set'),
    acl('settings', 'read'),
    returns(200, SettingsResource.One),
    async (c) => c.json(SettingsResource.one(await readPublicSettings(c.var.panel))),
  )

  .patch(
    '/',
    summary('Update settings; null restores a default'),
    acl('settings', 'write'),
    body(SettingsChanges),
    returns(200, SettingsResource.One),
    async (c) => c.json(SettingsResource.one(await changeSettings(c.var.panel, c.req.valid('json')))),
  )
