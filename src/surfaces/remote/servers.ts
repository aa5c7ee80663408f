import { type Context, Hono } from 'hono'
import { tryDecodeURIComponent } from 'hono/utils/url'
import * as z from 'zod'
import {
  nodeServerColumn,
  nodeServerScriptColumn,
  nodeServersColumn,
  resetNodeServers,
  toNodeServer,
  toNodeServers,
  toNodeServerScript,
} from '../../domain/nodes/servers.ts'
import { installScript } from '../../domain/servers/configuration.ts'
import { ContainerStatus, recordContainerStatus } from '../../domain/servers/container-status.ts'
import { finishInstallation, InstallReport } from '../../domain/servers/installation.ts'
import { refuseOtherMethods } from '../../http/errors.ts'
import { readQuery } from '../../http/input.ts'
import { answerJson, sendJson } from '../../http/json-text.ts'
import { listing, readListing } from '../../http/listing.ts'
import { body, returns, summary } from '../../http/route.ts'
import { reads, type RemoteEnv, serversOfNode } from './middleware.ts'
import {
  ConfigurationPage,
  ServerConfiguration,
  serverConfiguration,
  writeConfigurationPage,
} from './resources/server-configuration.ts'

const InstallScript = () =>
  z.strictObject({ container_image: z.string(), entrypoint: z.string(), script: z.string() })

const listOptions = { perPage: 50, maxPerPage: 1000 }

/** Returns the server in the path. The credential, which reads for the route, has no parameters. */
const serverSegment = (c: Context) => tryDecodeURIComponent(/\/servers\/([^/]*)/.exec(c.req.path)?.[1] ?? '')

/** Spec: docs/remote.md#servers. */
export const servers = new Hono<RemoteEnv>()
  .get(
    '/',
    summary('List the server configurations of the node'),
    serversOfNode,
    listing(listOptions),
    reads(async (c) => nodeServersColumn(readListing(listOptions, await readQuery(c)))),
    returns(200, ConfigurationPage),
    (c) => {
      const { panel, data } = c.var
      const page = toNodeServers(data, c.req.valid('query'))
      return sendJson(c, writeConfigurationPage(page, `${panel.config.url}/api/remote/servers`))
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
    reads((c) => nodeServerColumn(serverSegment(c))),
    returns(200, ServerConfiguration),
    (c) => answerJson(c, serverConfiguration(toNodeServer(c.var.data))),
  )

  .get(
    '/:uuid/install',
    summary('Show the install script of a server'),
    serversOfNode,
    reads((c) => nodeServerScriptColumn(serverSegment(c))),
    returns(200, InstallScript),
    (c) => c.json(installScript(toNodeServerScript(c.var.data))),
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
