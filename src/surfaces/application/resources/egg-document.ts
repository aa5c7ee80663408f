import * as z from 'zod'

/** Any egg document: the parser knows the formats and reports what is wrong. */
export const AnyEggDocument = () => z.record(z.string(), z.unknown())

/** An egg document in Pterodactyl's format PTDL_v2, with the further keys of the document that was imported. */
export const EggDocument = () =>
  z.looseObject({
    _comment: z.string(),
    meta: z.looseObject({ version: z.literal('PTDL_v2'), update_url: z.string().nullable() }),
    exported_at: z.string(),
    name: z.string(),
    author: z.string(),
    description: z.string().nullable(),
    features: z.array(z.string()).nullable(),
    docker_images: z.record(z.string(), z.string()),
    file_denylist: z.array(z.string()),
    query_game: z.string().optional(),
    startup: z.string(),
    config: z.looseObject({
      files: z.string(),
      startup: z.string(),
      logs: z.string(),
      stop: z.string().nullable(),
    }),
    scripts: z.looseObject({
      installation: z.looseObject({
        script: z.string().nullable(),
        container: z.string(),
        entrypoint: z.string(),
      }),
    }),
    variables: z.array(
      z.looseObject({
        name: z.string(),
        description: z.string(),
        env_variable: z.string(),
        default_value: z.string(),
        user_viewable: z.boolean(),
        user_editable: z.boolean(),
        rules: z.string(),
        field_type: z.string(),
      }),
    ),
  })
