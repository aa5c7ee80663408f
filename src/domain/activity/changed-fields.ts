/** Columns that follow from others, or that hold parts of a secret. */
const ignoredColumns = new Set([
  'updatedAt',
  'authVersion',
  'emailVerifiedAt',
  'pendingEmail',
  'daemonTokenId',
  'previousTokenId',
  'previousToken',
  'previousTokenExpiresAt',
])

/** Columns that the API names differently. */
const fieldNames: Record<string, string> = { passwordHash: 'password', daemonToken: 'reset_secret' }

/** Lists the fields in which a row has changed, as the API names them; never their values. */
export const changedFields = (before: object, after: object): string[] =>
  Object.entries(after)
    .filter(([column, value]) => {
      const previous = (before as Record<string, unknown>)[column]
      return !ignoredColumns.has(column) && JSON.stringify(value) !== JSON.stringify(previous)
    })
    .map(([column]) => fieldNames[column] ?? column.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
