import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { findNodeConfiguration } from '../../domain/node-configuration.ts'
import {
  addNode,
  changeNode,
  findNode,
  listNodes,
  NodeChanges,
  nodeFilters,
  NodeInput,
  nodeSorts,
  removeNode,
} from '../../domain/nodes.ts'
import { DeployableQuery, listDeployableNodes } from '../../domain/nodes-deployable.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, query, returns, summary } from '../../http/route.ts'
import { created } from './created.ts'
import { acl } from './env.ts'
import { includesOf, presentList, presentOne, presentPage } from './relations.ts'
import { NodeConfiguration } from './resources/node-configuration.ts'
import { DeployableNodeResource, NodeResource } from './resources/node.ts'

const ById = () => z.object({ node: pathId() })
const List = { filters: nodeFilters, sorts: nodeSorts, perPage: 50, mostPerPage: 500 }
/** A page when one was asked for, else everything. */
const DeployableNodes = () => z.union([DeployableNodeResource.Page(), DeployableNodeResource.List()])

/** Spec: Application API, nodes. */
export const nodes = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List nodes'),
    acl('nodes', 'read'),
    listing(List),
    returns(200, NodeResource.Page),
    async (c) => {
      const includes = includesOf(c, 'node')
      const page = await listNodes(c.var.panel, c.req.valid('query'), includes.allowed)
      return c.json(presentPage('node', page, includes, publicUrl(c)))
    },
  )

  .get(
    '/deployable',
    summary('List the nodes that can take a server'),
    acl('nodes', 'read'),
    query(DeployableQuery),
    returns(200, DeployableNodes),
    async (c) => {
      const includes = includesOf(c, 'deployableNode')
      const request = c.req.valid('query')
      const found = await listDeployableNodes(c.var.panel, request, includes.allowed)
      if (!request.page) return c.json(presentList('deployableNode', found.rows, includes))
      return c.json(presentPage('deployableNode', found, includes, publicUrl(c)))
    },
  )

  .get(
    '/:node',
    summary('Show a node'),
    acl('nodes', 'read'),
    params(ById),
    returns(200, NodeResource.One),
    async (c) => {
      const includes = includesOf(c, 'node')
      const node = await findNode(c.var.panel, c.req.valid('param').node, includes.allowed)
      return c.json(presentOne('node', node, includes))
    },
  )

  .get(
    '/:node/configuration',
    summary("Show the configuration of a node's daemon with its credential"),
    acl('nodes', 'write'),
    params(ById),
    returns(200, NodeConfiguration),
    async (c) => c.json(await findNodeConfiguration(c.var.panel, c.req.valid('param').node)),
  )

  .post(
    '/',
    summary('Add a node'),
    acl('nodes', 'write'),
    body(NodeInput),
    returns(201, NodeResource.One),
    async (c) => {
      const includes = includesOf(c, 'node')
      const { id } = await addNode(c.var.panel, c.req.valid('json'))
      const node = await findNode(c.var.panel, id, includes.allowed)
      return created(c, `nodes/${id}`, presentOne('node', node, includes))
    },
  )

  .patch(
    '/:node',
    summary('Change a node and tell its daemon'),
    acl('nodes', 'write'),
    params(ById),
    body(NodeChanges),
    returns(200, NodeResource.One),
    async (c) => {
      const includes = includesOf(c, 'node')
      const { id } = await changeNode(c.var.panel, c.req.valid('param').node, c.req.valid('json'))
      return c.json(presentOne('node', await findNode(c.var.panel, id, includes.allowed), includes))
    },
  )

  .delete(
    '/:node',
    summary('Remove a node without servers'),
    acl('nodes', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await removeNode(c.var.panel, c.req.valid('param').node)
      return c.body(null, 204)
    },
  )
