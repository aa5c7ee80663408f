/** What an operator has to know before an upgrade, until a migration is applied. */
export type UpgradeNote = {
  /** The migration with which it begins to hold. */
  migration: string
  /** Its heading in docs/upgrading.md. */
  heading: string
  text: string
}

/** The notes of all versions, oldest first; docs/upgrading.md tells each at length. */
export const upgradeNotes: readonly UpgradeNote[] = [
  {
    migration: '0005_verified_addresses',
    heading: 'From 0.1',
    text: 'Accounts that exist count as verified; those that the previous version creates meanwhile do not, until user:verify-email.',
  },
]
