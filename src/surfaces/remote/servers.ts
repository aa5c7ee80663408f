import { Hono } from 'hono'
import * as z from 'zod'
import {
  findNodeServer,
  findNodeServerScript,
  listNodeServers,
  resetNodeServers,
} from '../../domain/nodes/servers.ts'
import { installScript } from '../../domain/servers/configuration.ts'
import { ContainerStatus, recordContainerStatus } from '../../domain/servers/container-status.ts'
import { finishInstallation, InstallReport } from '../../domain/servers/installation.ts'
import { refuseOtherMethods } from '../../http/errors.ts'
import { listing } from '../../http/listing.ts'
import { body, returns, summary } from '../../http/route.ts'
import { type RemoteEnv, serversOfNode } from './middleware.ts'
import {
  ConfigurationPage,
  configurationPage,
  ServerConfiguration,
  serverConfiguration,
} from './resources/server-configuration.ts'

const InstallScript = () =>
  z.strictObject({ container_image: z.string(), entrypoint: z.string(), script: z.string() })

/** Spec: docs/remote.md#servers. */
export const servers = new Hono<RemoteEnv>()
  .get(
    '/',
    summary('List the server configurations of the node'),
    serversOfNode,
    listing({ perPage: 50, maxPerPage: 1000 }),
    returns(200, ConfigurationPage),
    async (c) => {
      const { panel, node } = c.var
      const page = await listNodeServers(panel, node, c.req.valid('query'))
      return c.json(configurationPage(page, `${panel.config.url}/api/remote/servers`))
    },
  )

  .post('/reset', summary('Report that the daemon has restarted'), serversOfNode, returns(204), async (c) => {
    await resetNodeServers(c.var.panel, c.var.node)
    return c.body(null, 204)
  })
  .use('/reset', refuseOtherMethods)

  .get(
    '/:uuid',
    summary('Show the configuration of a server'),
    serversOfNode,
    returns(200, ServerConfiguration),
    async (c) =>
      c.json(serverConfiguration(await findNodeServer(c.var.panel, c.var.node, c.req.param('uuid')))),
  )

  .get(
    '/:uuid/install',
    summary('Show the install script of a server'),
    serversOfNode,
    returns(200, InstallScript),
    async (c) =>
      c.json(installScript(await findNodeServerScript(c.var.panel, c.var.node, c.req.param('uuid')))),
  )

  .post(
    '/:uuid/install',
    summary('Report the result of an installation'),
    serversOfNode,
    body(InstallReport),
    returns(204),
    async (c) => {
      await finishInstallation(c.var.panel, c.var.node, c.req.param('uuid'), c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/:uuid/container/status',
    summary('Report a change of the state of a server'),
    serversOfNode,
    body(ContainerStatus),
    returns(204),
    async (c) => {
      await recordContainerStatus(c.var.panel, c.var.node, c.req.param('uuid'), c.req.valid('json'))
      return c.body(null, 204)
    },
  )
