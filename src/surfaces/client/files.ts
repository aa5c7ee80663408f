import { Hono, type MiddlewareHandler } from 'hono'
import { compressFiles, CompressInput, decompressFile, DecompressInput } from '../../domain/files/archives.ts'
import {
  changeFileModes,
  ChmodInput,
  copyFile,
  CopyInput,
  createFolder,
  deleteFiles,
  DeleteInput,
  FolderInput,
} from '../../domain/files/changes.ts'
import {
  DirectoryQuery,
  FileQuery,
  maxEditableBytes,
  readContents,
  writeContents,
} from '../../domain/files/contents.ts'
import { listFolder } from '../../domain/files/listing.ts'
import { pullFile, PullInput } from '../../domain/files/pull.ts'
import { renameFiles, RenameInput } from '../../domain/files/rename.ts'
import { createFileDownloadUrl, createFileUploadUrl } from '../../domain/files/signed-urls.ts'
import { readRawBody } from '../../http/request-body.ts'
import { body, query, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import { available, permission, perUserAndServer, type ServerEnv } from './middleware.ts'
import { FileObject, Folder, presentFolder } from './resources/file-object.ts'
import { SignedUrl } from './resources/signed-url.ts'

/** Keeps browsers from running what a file contains. */
const sandboxed: MiddlewareHandler = async (c, next) => {
  c.header('content-security-policy', "default-src 'none'; sandbox")
  await next()
}
const plainTextHeaders = { 'content-type': 'text/plain; charset=UTF-8' }

/** Spec: docs/files.md#files-and-the-trash. */
export const files = new Hono<ServerEnv>()
  .get(
    '/list',
    summary('List a folder'),
    available,
    permission('file.read'),
    query(DirectoryQuery, { preserveWhitespace: true }),
    returns(200, Folder),
    async (c) => {
      const { directory } = c.req.valid('query')
      return c.json(presentFolder(await listFolder(c.var.panel, c.var.access, directory ?? null)))
    },
  )

  .get(
    '/contents',
    summary('Get the contents of a file'),
    available,
    permission('file.read-content'),
    query(FileQuery, { preserveWhitespace: true }),
    returns(200),
    sandboxed,
    async (c) =>
      c.body(await readContents(c.var.panel, c.var.access, c.req.valid('query').file), 200, plainTextHeaders),
  )

  .get(
    '/download',
    summary('Get a download URL for a file'),
    available,
    permission('file.read-content'),
    throttle({ name: 'file-download', limit: 60, seconds: 60, key: perUserAndServer }),
    query(FileQuery, { preserveWhitespace: true }),
    returns(200, SignedUrl.One),
    async (c) => {
      const { file } = c.req.valid('query')
      return c.json(SignedUrl.one(await createFileDownloadUrl(c.var.panel, c.var.access, file)))
    },
  )

  .get(
    '/upload',
    summary('Get an upload URL for files'),
    available,
    permission('file.create'),
    throttle({ name: 'file-upload', limit: 60, seconds: 60, key: perUserAndServer }),
    returns(200, SignedUrl.One),
    async (c) => c.json(SignedUrl.one(await createFileUploadUrl(c.var.panel, c.var.access))),
  )

  .put(
    '/rename',
    summary('Rename or move files'),
    available,
    permission('file.update'),
    body(RenameInput, { preserveWhitespace: true }),
    returns(204),
    async (c) => {
      await renameFiles(c.var.panel, c.var.access, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/copy',
    summary('Copy a file'),
    available,
    permission('file.create'),
    body(CopyInput, { preserveWhitespace: true }),
    returns(204),
    async (c) => {
      await copyFile(c.var.panel, c.var.access, c.req.valid('json').location)
      return c.body(null, 204)
    },
  )

  .post(
    '/write',
    summary('Write a file'),
    available,
    permission('file.create'),
    query(FileQuery, { preserveWhitespace: true }),
    returns(204),
    async (c) => {
      const content = await readRawBody(c, maxEditableBytes)
      await writeContents(c.var.panel, c.var.access, c.req.valid('query').file, content)
      return c.body(null, 204)
    },
  )

  .post(
    '/compress',
    summary('Compress files into an archive'),
    available,
    permission('file.archive'),
    body(CompressInput, { preserveWhitespace: true }),
    returns(200, FileObject.One),
    async (c) => c.json(FileObject.one(await compressFiles(c.var.panel, c.var.access, c.req.valid('json')))),
  )

  .post(
    '/decompress',
    summary('Decompress an archive'),
    available,
    permission('file.create'),
    body(DecompressInput, { preserveWhitespace: true }),
    returns(204),
    async (c) => {
      const isDone = await decompressFile(c.var.panel, c.var.access, c.req.valid('json'))
      // The ecosystem answers 204 once it is done; 202 says that the daemon is still working.
      return isDone ? c.body(null, 204) : c.json([], 202)
    },
  )

  .post(
    '/delete',
    summary('Delete files permanently'),
    available,
    permission('file.delete'),
    body(DeleteInput, { preserveWhitespace: true }),
    returns(204),
    async (c) => {
      await deleteFiles(c.var.panel, c.var.access, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/create-folder',
    summary('Create a folder'),
    available,
    permission('file.create'),
    body(FolderInput, { preserveWhitespace: true }),
    returns(204),
    async (c) => {
      await createFolder(c.var.panel, c.var.access, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/chmod',
    summary('Change the permissions of files'),
    available,
    permission('file.update'),
    body(ChmodInput, { preserveWhitespace: true }),
    returns(204),
    async (c) => {
      await changeFileModes(c.var.panel, c.var.access, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/pull',
    summary('Pull a file from a URL'),
    available,
    permission('file.create'),
    throttle({ name: 'file-pull', limit: 10, seconds: 300, key: perUserAndServer }),
    body(PullInput, { preserveWhitespace: true }),
    returns(204),
    async (c) => {
      await pullFile(c.var.panel, c.var.access, c.req.valid('json'))
      return c.body(null, 204)
    },
  )
