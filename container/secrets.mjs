// Makes the password of the database at the first start, once: for PostgreSQL as text, for the panel as a file of libpq.
import { randomBytes } from 'node:crypto'
import { existsSync, renameSync, writeFileSync } from 'node:fs'

const folder = '/secrets'
const password = `${folder}/database-password`
const pgpass = `${folder}/pgpass`

/** Writes a file that its owner alone can read, whole or not at all. */
function write(file, text) {
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

try {
  if (!existsSync(password)) {
    const made = randomBytes(24).toString('hex')
    write(pgpass, `*:*:*:roost:${made}\n`)
    write(password, made)
  }
} catch (error) {
  console.error(
    `The password of the database cannot be written (${error.code}): the volume "secrets" must be writable by ${process.getuid()}.`,
  )
  process.exit(1)
}
