import { createMiddleware } from 'hono/factory'
import type { HttpEnv } from './environment.ts'
import { stating } from './facts.ts'

/** Anybody may call. */
export const noCredential = stating(
  { kind: 'credential', name: 'none' },
  createMiddleware<HttpEnv>(async (_c, next) => next()),
)

/** Nothing is asked of the caller. */
export const anybody = stating(
  { kind: 'permission', name: 'anybody' },
  createMiddleware<HttpEnv>(async (_c, next) => next()),
)
