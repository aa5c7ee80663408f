import { Hono } from 'hono'
import * as z from 'zod'
import { changeDockerImage, DockerImageInput } from '../../domain/servers/docker-image.ts'
import { reinstallServer } from '../../domain/servers/reinstall.ts'
import { RenameInput, renameServer } from '../../domain/servers/rename.ts'
import { body, returns, summary } from '../../http/route.ts'
import { available, availableDuring, permission, type ServerEnv } from './middleware.ts'

/** Allows a server whose installation failed; the domain judges who may repeat one that is running. */
const reinstallable = availableDuring({ everyone: ['installing'], administrators: ['installing'] })

/** Spec: docs/servers.md#settings. */
export const settings = new Hono<ServerEnv>()
  .post(
    '/rename',
    summary('Rename a server and set its description'),
    available,
    permission('settings.rename'),
    body(RenameInput),
    returns(204),
    async (c) => {
      await renameServer(c.var.panel, c.var.access, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/reinstall',
    summary('Reinstall a server'),
    reinstallable,
    permission('settings.reinstall'),
    returns(202, () => z.array(z.never())),
    async (c) => {
      const { panel, access } = c.var
      const isAdministrator = panel.actor.kind === 'user' && panel.actor.user.rootAdmin
      const mayRepeat = access.isOwner || isAdministrator
      await reinstallServer(panel, access.server.id, mayRepeat ? 'debounced' : 'refused')
      return c.json([], 202)
    },
  )

  .put(
    '/docker-image',
    summary('Choose the Docker image of a server'),
    available,
    permission('startup.docker-image'),
    body(DockerImageInput),
    returns(204),
    async (c) => {
      await changeDockerImage(c.var.panel, c.var.access, c.req.valid('json').docker_image)
      return c.body(null, 204)
    },
  )
