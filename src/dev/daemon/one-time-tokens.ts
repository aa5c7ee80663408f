const lifetimeMs = 60 * 60_000

export type OneTimeTokens = {
  /** Uses up a `unique_id`; false when it was used within the last hour. Tokens without one share the empty id. */
  take: (uniqueId: string, now?: number) => boolean
}

/** Creates the list of signed URLs that were used, in memory. Wings: docs/wings.md#signed-tokens. */
export function createOneTimeTokens(): OneTimeTokens {
  const expiresAt = new Map<string, number>()
  return {
    take: (uniqueId, now = Date.now()) => {
      for (const [id, time] of expiresAt) {
        if (time > now) break
        expiresAt.delete(id)
      }
      if (expiresAt.has(uniqueId)) return false
      expiresAt.set(uniqueId, now + lifetimeMs)
      return true
    },
  }
}
