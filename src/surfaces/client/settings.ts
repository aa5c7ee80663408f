import { Hono } from 'hono'
import * as z from 'zod'
import { changeImage, ImageInput } from '../../domain/servers/image.ts'
import { reinstallServer } from '../../domain/servers/reinstall.ts'
import { renameServer, RenameInput } from '../../domain/servers/rename.ts'
import { body, returns, summary } from '../../http/route.ts'
import { available, availableDespite, permission, type ServerEnv } from './env.ts'

/** What was never installed may be installed again; the handler refuses while that is going on. */
const reinstallable = availableDespite({ everyone: ['installing'], administrators: ['installing'] })

/** Spec: Client API, settings. */
export const settings = new Hono<ServerEnv>()
  .post(
    '/rename',
    summary('Change name and description of a server'),
    available,
    permission('settings.rename'),
    body(RenameInput),
    returns(204),
    async (c) => {
      await renameServer(c.var.panel, c.var.reached, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/reinstall',
    summary('Install a server again'),
    reinstallable,
    permission('settings.reinstall'),
    returns(202, () => z.array(z.never())),
    async (c) => {
      await reinstallServer(c.var.panel, c.var.server.id, ['installing'])
      return c.json([], 202)
    },
  )

  .put(
    '/docker-image',
    summary('Choose one of the images of the egg'),
    available,
    permission('startup.docker-image'),
    body(ImageInput),
    returns(204),
    async (c) => {
      await changeImage(c.var.panel, c.var.reached, c.req.valid('json').docker_image)
      return c.body(null, 204)
    },
  )
