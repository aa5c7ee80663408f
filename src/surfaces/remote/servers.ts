import { Hono } from 'hono'
import * as z from 'zod'
import { finishInstall, InstallReport } from '../../domain/installs.ts'
import {
  findNodeServer,
  findNodeServerScript,
  listNodeServers,
  resetNodeServers,
} from '../../domain/node-servers.ts'
import { installScript } from '../../domain/servers/configuration.ts'
import { listing } from '../../http/listing.ts'
import { body, returns, summary } from '../../http/route.ts'
import { ownServers, type RemoteEnv } from './env.ts'
import {
  ConfigurationPage,
  configurationPage,
  ServerConfiguration,
  serverConfiguration,
} from './resources/server-configuration.ts'

const InstallScript = () =>
  z.strictObject({ container_image: z.string(), entrypoint: z.string(), script: z.string() })

/** Spec: Remote API, servers. */
export const servers = new Hono<RemoteEnv>()
  .get(
    '/',
    summary('List the configurations of the servers of the node'),
    ownServers,
    listing({ perPage: 50, mostPerPage: 1000 }),
    returns(200, ConfigurationPage),
    async (c) => {
      const { panel, node } = c.var
      const page = await listNodeServers(panel, node, c.req.valid('query'))
      return c.json(configurationPage(page, `${panel.config.url}/api/remote/servers`))
    },
  )

  .post('/reset', summary('Tell that the daemon has restarted'), ownServers, returns(204), async (c) => {
    await resetNodeServers(c.var.panel, c.var.node)
    return c.body(null, 204)
  })

  .get(
    '/:uuid',
    summary('Show the configuration of a server'),
    ownServers,
    returns(200, ServerConfiguration),
    async (c) =>
      c.json(serverConfiguration(await findNodeServer(c.var.panel, c.var.node, c.req.param('uuid')))),
  )

  .get(
    '/:uuid/install',
    summary('Show the install script of a server'),
    ownServers,
    returns(200, InstallScript),
    async (c) =>
      c.json(installScript(await findNodeServerScript(c.var.panel, c.var.node, c.req.param('uuid')))),
  )

  .post(
    '/:uuid/install',
    summary('Tell how an installation ended'),
    ownServers,
    body(InstallReport),
    returns(204),
    async (c) => {
      await finishInstall(c.var.panel, c.var.node, c.req.param('uuid'), c.req.valid('json'))
      return c.body(null, 204)
    },
  )
