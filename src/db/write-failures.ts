import { sql } from 'drizzle-orm'
import { type Database, errorCode } from './database.ts'

/** SQLSTATE of a full disk, an I/O error and a database that only reads; codes of files on a full disk. */
const writeFailureCodes = ['53100', '58030', '25006', 'ENOSPC', 'EDQUOT']

/** Whether a statement failed because the database cannot write. */
export const isWriteFailure = (error: unknown): boolean => writeFailureCodes.includes(errorCode(error) ?? '')

/** The databases of this process that refused a write and have not taken one since. */
const failing = new WeakSet<Database>()

/** Notes that a database could not write, because its disk is full or broken or it only reads. */
export const noteWriteFailure = (db: Database): void => void failing.add(db)

/**
 * Writes 20,000 rows into a temporary table and drops it, if the last write to the database failed. Throws while it
 * still cannot write.
 */
export async function verifyWrites(
  db: Database,
  transaction: <T>(work: (tx: Database) => Promise<T>) => Promise<T>,
): Promise<void> {
  if (!failing.has(db)) return
  try {
    await transaction((tx) =>
      tx.execute(
        sql`create temporary table write_probe on commit drop as select n from generate_series(1, 20000) n`,
      ),
    )
  } catch (error) {
    // An account that may not create temporary tables learns from its next write.
    if (errorCode(error) !== insufficientPrivilege) throw error
  }
  failing.delete(db)
}

/** SQLSTATE. */
const insufficientPrivilege = '42501'
