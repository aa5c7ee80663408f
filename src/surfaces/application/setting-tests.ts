import { Hono } from 'hono'
import { testBucket, testMail, TestMailInput, testOidc } from '../../domain/settings/tests.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { body, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { SettingTestResource } from './resources/setting-test.ts'

/** Tests of what settings and the environment name. Spec: docs/operations.md#tests. */
export const settingTests = new Hono<HttpEnv>()
  .post(
    '/mail',
    summary('Send a test mail'),
    acl('settings', 'write'),
    body(TestMailInput),
    returns(200, SettingTestResource.One),
    async (c) => c.json(SettingTestResource.one(await testMail(c.var.panel, c.req.valid('json')))),
  )

  .post(
    '/bucket',
    summary('Test the object store with an archive'),
    acl('settings', 'write'),
    returns(200, SettingTestResource.One),
    async (c) => c.json(SettingTestResource.one(await testBucket(c.var.panel))),
  )

  .post(
    '/oidc',
    summary('Test the OpenID Connect provider'),
    acl('settings', 'write'),
    returns(200, SettingTestResource.One),
    async (c) => c.json(SettingTestResource.one(await testOidc(c.var.panel))),
  )
