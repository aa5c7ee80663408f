import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { findNodeConfiguration } from '../../domain/nodes/configuration.ts'
import { DeployableQuery, listDeployableNodes } from '../../domain/nodes/deployable.ts'
import { listPlacements, PlacementQuery } from '../../domain/nodes/placement.ts'
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
} from '../../domain/nodes/nodes.ts'
import { refuseOtherMethods } from '../../http/errors.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, query, returns, summary } from '../../http/route.ts'
import { answerList, answerOne, answerPage } from './answers.ts'
import { createdAt } from './created.ts'
import { acl } from './middleware.ts'
import { includesOf } from './relations.ts'
import { NodeConfiguration } from './resources/node-configuration.ts'
import { NodePlacementResource } from './resources/node-placement.ts'
import { ChangedNodeResource, DeployableNodeResource, NodeResource } from './resources/node.ts'

const NodeParams = () => z.object({ node: pathId() })
const listOptions = {
  filters: nodeFilters,
  sorts: nodeSorts,
  perPage: 50,
  maxPerPage: 500,
  hasSearch: true,
}
/** A page when the query has `page`, else all nodes. */
const DeployableNodes = () => z.union([DeployableNodeResource.Page(), DeployableNodeResource.List()])

/** Spec: getApplicationNodes. */
export const nodes = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List nodes'),
    acl('nodes', 'read'),
    listing(listOptions),
    returns(200, NodeResource.Page),
    async (c) => {
      const includes = await includesOf(c, 'node')
      const page = await listNodes(c.var.panel, c.req.valid('query'), includes.allowed)
      return answerPage(c, 'node', page, includes)
    },
  )

  .get(
    '/deployable',
    summary('List the nodes with room for a server'),
    acl('nodes', 'read'),
    query(DeployableQuery),
    returns(200, DeployableNodes),
    async (c) => {
      const includes = await includesOf(c, 'deployableNode')
      const request = c.req.valid('query')
      const found = await listDeployableNodes(c.var.panel, request, includes.allowed)
      if (!request.page) return answerList(c, 'deployableNode', found.rows, includes)
      return answerPage(c, 'deployableNode', found, includes)
    },
  )
  .use('/deployable', refuseOtherMethods)

  .get(
    '/placement',
    summary('List the nodes with why they do not take a server'),
    acl('nodes', 'read'),
    query(PlacementQuery),
    returns(200, NodePlacementResource.Page),
    async (c) => {
      const page = await listPlacements(c.var.panel, c.req.valid('query'))
      return c.json(NodePlacementResource.page(page, publicUrl(c)))
    },
  )
  .use('/placement', refuseOtherMethods)

  .get(
    '/:node',
    summary('Show a node'),
    acl('nodes', 'read'),
    params(NodeParams),
    returns(200, NodeResource.One),
    async (c) => {
      const includes = await includesOf(c, 'node')
      const node = await findNode(c.var.panel, c.req.valid('param').node, includes.allowed)
      return answerOne(c, 'node', node, includes)
    },
  )

  .get(
    '/:node/configuration',
    summary('Show the daemon configuration of a node, with its token'),
    acl('nodes', 'write'),
    params(NodeParams),
    returns(200, NodeConfiguration),
    async (c) => c.json(await findNodeConfiguration(c.var.panel, c.req.valid('param').node)),
  )

  .post(
    '/',
    summary('Create a node'),
    acl('nodes', 'write'),
    body(NodeInput),
    returns(201, NodeResource.One),
    async (c) => {
      const includes = await includesOf(c, 'node')
      const { id } = await addNode(c.var.panel, c.req.valid('json'))
      const node = await findNode(c.var.panel, id, includes.allowed)
      return answerOne(c, 'node', node, includes, { status: 201, meta: createdAt(c, `nodes/${id}`) })
    },
  )

  .patch(
    '/:node',
    summary('Update a node and its daemon'),
    acl('nodes', 'write'),
    params(NodeParams),
    body(NodeChanges),
    returns(200, ChangedNodeResource),
    async (c) => {
      const includes = await includesOf(c, 'node')
      const { panel } = c.var
      const { node, isUnreachable } = await changeNode(panel, c.req.valid('param').node, c.req.valid('json'))
      const meta = isUnreachable ? { daemon: 'unreachable' } : undefined
      return answerOne(c, 'node', await findNode(panel, node.id, includes.allowed), includes, { meta })
    },
  )

  .delete(
    '/:node',
    summary('Delete a node without servers'),
    acl('nodes', 'write'),
    params(NodeParams),
    returns(204),
    async (c) => {
      await removeNode(c.var.panel, c.req.valid('param').node)
      return c.body(null, 204)
    },
  )
