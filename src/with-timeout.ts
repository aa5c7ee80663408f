/** Resolves as `work` does, or with `fallback` after `timeoutMs` milliseconds, while `work` continues on its own. */
export async function withTimeout<Result, Fallback>(
  work: Promise<Result>,
  timeoutMs: number,
  fallback: Fallback,
): Promise<Result | Fallback> {
  const { promise: timedOut, resolve } = Promise.withResolvers<Fallback>()
  const timer = setTimeout(() => resolve(fallback), timeoutMs)
  try {
    return await Promise.race([work, timedOut])
  } finally {
    clearTimeout(timer)
  }
}
