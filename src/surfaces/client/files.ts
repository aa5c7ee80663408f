import { Hono, type MiddlewareHandler } from 'hono'
import { compressFiles, CompressInput, decompressFile, DecompressInput } from '../../domain/files/archives.ts'
import {
  changeModes,
  copyFile,
  CopyInput,
  createFolder,
  deleteFiles,
  DeleteInput,
  FolderInput,
  ModesInput,
} from '../../domain/files/changes.ts'
import {
  DirectoryQuery,
  editableBytes,
  FileQuery,
  readContents,
  writeContents,
} from '../../domain/files/contents.ts'
import { listFolder } from '../../domain/files/listing.ts'
import { pullFile, PullInput } from '../../domain/files/pull.ts'
import { renameFiles, RenameInput } from '../../domain/files/rename.ts'
import { downloadAddress, uploadAddress } from '../../domain/files/signed-urls.ts'
import { exactBody } from '../../http/exact-body.ts'
import { readRawBody } from '../../http/raw-body.ts'
import { exactQuery, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import { available, permission, perUserAndServer, type ServerEnv } from './env.ts'
import { FileObject } from './resources/file-object.ts'
import { SignedUrl } from './resources/signed-url.ts'

/** Whatever a file holds, browsers show it as text and run nothing of it. */
const inert: MiddlewareHandler = async (c, next) => {
  c.header('content-security-policy', "default-src 'none'; sandbox")
  await next()
}
const asText = { 'content-type': 'text/plain; charset=UTF-8' }

/** Spec: Client API, files. */
export const files = new Hono<ServerEnv>()
  .get(
    '/list',
    summary('List a folder'),
    available,
    permission('file.read'),
    exactQuery(DirectoryQuery),
    returns(200, FileObject.List),
    async (c) => {
      const { directory } = c.req.valid('query')
      return c.json(FileObject.list(await listFolder(c.var.panel, c.var.reached, directory ?? null)))
    },
  )

  .get(
    '/contents',
    summary('Show what is in a file'),
    available,
    permission('file.read-content'),
    exactQuery(FileQuery),
    returns(200),
    inert,
    async (c) =>
      c.body(await readContents(c.var.panel, c.var.reached, c.req.valid('query').file), 200, asText),
  )

  .get(
    '/download',
    summary('Get an address to download a file from'),
    available,
    permission('file.read-content'),
    throttle({ name: 'file-download', limit: 60, seconds: 60, key: perUserAndServer }),
    exactQuery(FileQuery),
    returns(200, SignedUrl.One),
    async (c) => {
      const { file } = c.req.valid('query')
      return c.json(SignedUrl.one(await downloadAddress(c.var.panel, c.var.reached, file)))
    },
  )

  .get(
    '/upload',
    summary('Get an address to upload files to'),
    available,
    permission('file.create'),
    throttle({ name: 'file-upload', limit: 60, seconds: 60, key: perUserAndServer }),
    returns(200, SignedUrl.One),
    async (c) => c.json(SignedUrl.one(await uploadAddress(c.var.panel, c.var.reached))),
  )

  .put(
    '/rename',
    summary('Rename or move files'),
    available,
    permission('file.update'),
    exactBody(RenameInput),
    returns(204),
    async (c) => {
      await renameFiles(c.var.panel, c.var.reached, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/copy',
    summary('Copy a file'),
    available,
    permission('file.create'),
    exactBody(CopyInput),
    returns(204),
    async (c) => {
      await copyFile(c.var.panel, c.var.reached, c.req.valid('json').location)
      return c.body(null, 204)
    },
  )

  .post(
    '/write',
    summary('Write a file'),
    available,
    permission('file.create'),
    exactQuery(FileQuery),
    returns(204),
    async (c) => {
      const content = await readRawBody(c, editableBytes)
      await writeContents(c.var.panel, c.var.reached, c.req.valid('query').file, content)
      return c.body(null, 204)
    },
  )

  .post(
    '/compress',
    summary('Pack files into an archive'),
    available,
    permission('file.archive'),
    exactBody(CompressInput),
    returns(200, FileObject.One),
    async (c) => c.json(FileObject.one(await compressFiles(c.var.panel, c.var.reached, c.req.valid('json')))),
  )

  .post(
    '/decompress',
    summary('Unpack an archive'),
    available,
    permission('file.create'),
    exactBody(DecompressInput),
    returns(204),
    async (c) => {
      const isDone = await decompressFile(c.var.panel, c.var.reached, c.req.valid('json'))
      // The specification knows only what is done; 202 says that the daemon goes on.
      return isDone ? c.body(null, 204) : c.json([], 202)
    },
  )

  .post(
    '/delete',
    summary('Delete files for good'),
    available,
    permission('file.delete'),
    exactBody(DeleteInput),
    returns(204),
    async (c) => {
      await deleteFiles(c.var.panel, c.var.reached, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/create-folder',
    summary('Make a folder'),
    available,
    permission('file.create'),
    exactBody(FolderInput),
    returns(204),
    async (c) => {
      await createFolder(c.var.panel, c.var.reached, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/chmod',
    summary('Set the rights of files'),
    available,
    permission('file.update'),
    exactBody(ModesInput),
    returns(204),
    async (c) => {
      await changeModes(c.var.panel, c.var.reached, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/pull',
    summary('Have a file fetched from elsewhere'),
    available,
    permission('file.create'),
    throttle({ name: 'file-pull', limit: 10, seconds: 300, key: perUserAndServer }),
    exactBody(PullInput),
    returns(204),
    async (c) => {
      await pullFile(c.var.panel, c.var.reached, c.req.valid('json'))
      return c.body(null, 204)
    },
  )
