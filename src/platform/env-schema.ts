import * as z from 'zod'
import { logLevels } from '../log.ts'
import {
  credential,
  flag,
  keyValues,
  keyRing,
  mailbox,
  networks,
  origin,
  positiveInteger,
  redisUrl,
  timeZone,
  url,
} from './env-values.ts'

/** The environment variables. Empty strings count as unset. */
export const EnvSchema = () =>
  z.object({
    APP_URL: origin().optional(),
    APP_NAME: z.string().default('Roost'),
    APP_TIMEZONE: timeZone().default('UTC'),
    APP_KEYS: keyRing().optional(),
    DATABASE_URL: z.url({ protocol: /^postgres(?:ql)?$/, error: 'must be a postgres:// URL' }).optional(),
    DATABASE_DRIVER: z.enum(['postgres', 'neon']).optional(),
    DATABASE_POOL_SIZE: positiveInteger().default(10),
    DATABASE_WAIT_SECONDS: z.coerce.number().int().min(0).max(86_400).default(3600),
    NEON_LOCAL_PROXY: z
      .string()
      .regex(/^[\w.-]+:\d{1,5}$/, 'must be host:port')
      .optional(),
    UPSTASH_REDIS_REST_URL: url().optional(),
    UPSTASH_REDIS_REST_TOKEN: credential().optional(),
    REDIS_URL: redisUrl().optional(),
    CACHE_DRIVER: z.enum(['memory', 'database']).optional(),
    QSTASH_URL: url().optional(),
    QSTASH_TOKEN: credential().optional(),
    QSTASH_CURRENT_SIGNING_KEY: credential().optional(),
    QSTASH_NEXT_SIGNING_KEY: credential().optional(),
    JOBS_URL: origin().optional(),
    S3_PRESET: z.enum(['aws', 'r2', 'b2', 'minio']).optional(),
    S3_BUCKET: z.string().optional(),
    S3_REGION: z.string().optional(),
    S3_ENDPOINT: url().optional(),
    S3_ACCESS_KEY_ID: z.string().optional(),
    S3_SECRET_ACCESS_KEY: z.string().optional(),
    S3_PATH_STYLE: flag().optional(),
    MAIL_DRIVER: z.enum(['resend', 'postmark', 'smtp']).optional(),
    MAIL_HTTP_ENDPOINT: url().optional(),
    MAIL_HTTP_TOKEN: credential().optional(),
    SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
    MAIL_FROM: mailbox().prefault('Roost <panel@localhost>'),
    CLIENT_RATE_LIMIT: positiveInteger().default(720),
    APPLICATION_RATE_LIMIT: positiveInteger().default(240),
    HOST: z.string().optional(),
    PORT: z.coerce.number().int().min(0).max(65535).default(8080),
    PROCESSES: z
      .union([z.literal('auto'), positiveInteger().max(64)], 'must be auto, or a whole number from 1 to 64')
      .default(1),
    DATA_DIR: z.string().default('.data'),
    DEMO: flag().optional(),
    TRUSTED_PROXIES: z.coerce.number().int().min(0).default(0),
    EGRESS_PRIVATE_NETWORKS: networks({ none: true }).prefault('0.0.0.0/0,::/0'),
    FETCH_ALLOWED_NETWORKS: networks().default([]),
    LOG_LEVEL: z.enum(logLevels).default('info'),
    LOG_ADDRESSES: flag().default(false),
    METRICS_TOKEN: z
      .string()
      .regex(/^\S{16,}$/, 'must have at least 16 characters and no spaces')
      .optional(),
    OTEL_SDK_DISABLED: flag().default(false),
    OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp'),
    OTEL_EXPORTER_OTLP_ENDPOINT: url().optional(),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url().optional(),
    OTEL_EXPORTER_OTLP_HEADERS: keyValues().optional(),
    OTEL_SERVICE_NAME: z.string().default('roost'),
    OTEL_RESOURCE_ATTRIBUTES: keyValues().optional(),
    OTEL_TRACES_SAMPLER: z
      .enum([
        'always_on',
        'always_off',
        'traceidratio',
        'parentbased_always_on',
        'parentbased_always_off',
        'parentbased_traceidratio',
      ])
      .default('parentbased_always_on'),
    OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
    OTEL_BSP_SCHEDULE_DELAY: positiveInteger().default(5000),
    SETUP_CODE: z
      .string()
      .regex(/^\S{12,255}$/, 'must have at least 12 characters and no spaces')
      .optional(),
    QSTASH_DEV: z.string().optional(),
  })
