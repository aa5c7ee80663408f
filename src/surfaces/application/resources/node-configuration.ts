import * as z from 'zod'

/** The configuration of a daemon, without an envelope: `wings configure` writes it to its file as it is. */
export const NodeConfiguration = () =>
  z.strictObject({
    debug: z.boolean(),
    uuid: z.uuid(),
    token_id: z.string().length(16),
    token: z.string().length(64),
    api: z.strictObject({
      host: z.string(),
      port: z.int(),
      ssl: z.strictObject({ enabled: z.boolean(), cert: z.string(), key: z.string() }),
      upload_limit: z.int(),
    }),
    system: z.strictObject({ data: z.string(), sftp: z.strictObject({ bind_port: z.int() }) }),
    allowed_mounts: z.array(z.string()),
    remote: z.url(),
    allowed_origins: z.array(z.url()).optional(),
  })
