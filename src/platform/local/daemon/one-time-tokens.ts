const lifetime = 60 * 60_000

export type OneTimeTokens = {
  /** Whether a `unique_id` is seen for the first time within an hour; tokens without one share the empty id. */
  take: (uniqueId: string, now?: number) => boolean
}

/** Which signed addresses were used; a restart forgets it. Wings: one-time store. */
export function createOneTimeTokens(): OneTimeTokens {
  const forgottenAt = new Map<string, number>()
  return {
    take: (uniqueId, now = Date.now()) => {
      for (const [id, time] of forgottenAt) {
        if (time > now) break
        forgottenAt.delete(id)
      }
      if (forgottenAt.has(uniqueId)) return false
      forgottenAt.set(uniqueId, now + lifetime)
      return true
    },
  }
}
