import { type Context, Hono } from 'hono'
import {
  changeSettings,
  readPublicSettings,
  SettingsChanges,
  type SettingsWithChanges,
} from '../../domain/settings/settings.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { body, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { presentSettings, SettingsAnswer } from './resources/settings.ts'

/** Answers with the settings, and their version in `ETag`. */
function answerSettings(c: Context<HttpEnv>, found: SettingsWithChanges) {
  c.header('etag', `"${found.version}"`)
  return c.json(presentSettings(found))
}

/** The settings of the panel. Spec: docs/api.md#features. */
export const settings = new Hono<HttpEnv>()
  .get(
    '/',
    summary('Show the settings; secrets only show whether they are set'),
    acl('settings', 'read'),
    returns(200, SettingsAnswer),
    async (c) => answerSettings(c, await readPublicSettings(c.var.panel)),
  )

  .patch(
    '/',
    summary('Update settings; null restores a default'),
    acl('settings', 'write'),
    body(SettingsChanges),
    returns(200, SettingsAnswer),
    async (c) => answerSettings(c, await changeSettings(c.var.panel, c.req.valid('json'))),
  )
