import type { Connection } from 'mysql2'
import type { Egress } from './egress.ts'

/** Milliseconds for connecting and logging in, for one statement, and for a whole call. */
const timeoutsMs = { connect: 5000, statement: 10_000, call: 15_000 }
/** Seconds for which a statement waits for locks: less than its timeout. */
const lockWaitSeconds = 8

const databaseExists = 'ER_DB_CREATE_EXISTS'
const noTls = 'HANDSHAKE_NO_SSL_SUPPORT'

/** Privileges of the user of a database. */
const privileges = [
  'SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, REFERENCES, INDEX, LOCK TABLES, EXECUTE',
  'CREATE ROUTINE, ALTER ROUTINE, CREATE TEMPORARY TABLES, CREATE VIEW, SHOW VIEW, EVENT, TRIGGER',
].join(', ')

/** Address and login of a MariaDB or MySQL server. */
export type MysqlAddress = {
  host: string
  port: number
  username: string
  password: () => Promise<string>
}

/** A database and its user; `remote` is the pattern of addresses from which the user may connect. */
export type HostedDatabase = { database: string; username: string; remote: string }

/** A server with the databases of game servers. Every call may throw a `MysqlHostError`. */
export type MysqlHost = {
  /** Logs in and reads the version; `tls` is whether the connection is encrypted. */
  ping: () => Promise<{ version: string; tls: boolean }>
  /** Creates a database, and a user with access to it only. 0 connections means unlimited. */
  createDatabase: (created: HostedDatabase & { password: string; maxConnections: number }) => Promise<void>
  /** Drops a database and its user; missing ones are fine. */
  dropDatabase: (dropped: HostedDatabase) => Promise<void>
  /** Changes the password of a user. */
  setPassword: (account: Omit<HostedDatabase, 'database'>, password: string) => Promise<void>
}

/** Why a call failed: no answer, a refusal, or a database of that name exists. */
type Reason = 'unreachable' | 'refused' | 'exists'

/** A failed call to a database host. Its message has no statements, since they contain passwords. */
export class MysqlHostError extends Error {
  readonly reason: Reason
  /** False when the host is certainly unchanged. */
  readonly mayHaveChanged: boolean

  constructor(reason: Reason, message: string, mayHaveChanged: boolean) {
    super(message)
    this.name = 'MysqlHostError'
    this.reason = reason
    this.mayHaveChanged = mayHaveChanged
  }
}

/** Returns what creates the client of a database host, over connections of `egress`. The driver is loaded by the first call. */
export const mysqlHosts =
  ({ connect: openSocket }: Egress) =>
  (address: MysqlAddress): MysqlHost =>
    mysqlHost({ ...address, openSocket })

type ReachedAddress = MysqlAddress & { openSocket: Egress['connect'] }

function mysqlHost(address: ReachedAddress): MysqlHost {
  return {
    ping: () =>
      withSession(address, async ({ query, tls }) => {
        const [row] = (await query('SELECT VERSION() AS version')) as { version: unknown }[]
        return { version: String(row?.version ?? ''), tls }
      }),
    createDatabase: (created) => withSession(address, (session) => createDatabase(session, created)),
    dropDatabase: ({ database, username, remote }) =>
      withSession(address, async ({ execute }) => {
        await execute(`DROP DATABASE IF EXISTS ${quoteIdentifier(database)}`)
        await execute('DROP USER IF EXISTS ?@?', [username, remote])
      }),
    setPassword: ({ username, remote }, password) =>
      withSession(address, ({ execute }) =>
        execute('ALTER USER ?@? IDENTIFIED BY ?', [username, remote, password]),
      ),
  }
}

type Session = {
  tls: boolean
  /** Runs a statement that changes nothing. */
  query: (statement: string, values?: unknown[]) => Promise<unknown>
  /** Runs a statement that may change the host. */
  execute: (statement: string, values?: unknown[]) => Promise<void>
}

/** Creates the database first: if it exists, it belongs to another server, and nothing else is changed. */
async function createDatabase(
  { query, execute }: Session,
  { database, username, remote, password, maxConnections }: Parameters<MysqlHost['createDatabase']>[0],
): Promise<void> {
  const variables = (await query("SHOW VARIABLES LIKE 'partial_revokes'")) as { Value?: unknown }[]
  const isLiteral = variables[0]?.Value === 'ON'
  await execute(`CREATE DATABASE ${quoteIdentifier(database)}`)
  await execute('CREATE USER ?@? IDENTIFIED BY ? WITH MAX_USER_CONNECTIONS ?', [
    username,
    remote,
    password,
    maxConnections,
  ])
  const granted = quoteIdentifier(database, { isPattern: !isLiteral })
  await execute(`GRANT ${privileges} ON ${granted}.* TO ?@?`, [username, remote])
}

/**
 * Quotes a name of a database for a statement. In a grant a name is a pattern, in which an underscore matches any
 * character, unless MySQL's `partial_revokes` is on. Throws for a name that the panel cannot have generated.
 */
function quoteIdentifier(name: string, { isPattern = false } = {}): string {
  if (!/^[\w-]{1,64}$/.test(name)) throw new Error('The name of the database is invalid.')
  return `\`${isPattern ? name.replaceAll('_', '\\_') : name}\``
}

async function withSession<T>(address: ReachedAddress, work: (session: Session) => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const { connection, tls } = await connect(address)
  let hasChanged = false
  const run = async (statement: string, values: unknown[], isChange: boolean) => {
    const remainingMs = timeoutsMs.call - (performance.now() - startedAt)
    if (remainingMs <= 0)
      throw new MysqlHostError('unreachable', 'The database host is too slow.', hasChanged)
    try {
      const rows = await sendQuery(connection, statement, values, Math.min(remainingMs, timeoutsMs.statement))
      hasChanged ||= isChange
      return rows
    } catch (error) {
      throw toHostError(error, hasChanged || (isChange && !isServerError(error)))
    }
  }
  try {
    const session: Session = {
      tls,
      query: (statement, values = []) => run(statement, values, false),
      execute: async (statement, values = []) => void (await run(statement, values, true)),
    }
    await session.query('SET SESSION lock_wait_timeout = ?', [lockWaitSeconds])
    const result = await work(session)
    connection.end(() => undefined)
    return result
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/**
 * Connects over TLS where the host supports it, otherwise unencrypted, where passwords are never sent in plain text
 * either. Certificates are not verified: hosts have self-signed ones, and no expected certificate is configured.
 */
async function connect(address: ReachedAddress): Promise<{ connection: Connection; tls: boolean }> {
  const password = await address.password()
  try {
    return { connection: await logIn(address, password, true), tls: true }
  } catch (error) {
    if (codeOf(error) !== noTls) throw toHostError(error, false)
  }
  try {
    return { connection: await logIn(address, password, false), tls: false }
  } catch (error) {
    throw toHostError(error, false)
  }
}

async function logIn(address: ReachedAddress, password: string, tls: boolean): Promise<Connection> {
  const { default: mysql } = await import('mysql2')
  const stream = await address.openSocket(address, AbortSignal.timeout(timeoutsMs.connect))
  const connection = mysql.createConnection({
    stream,
    host: address.host,
    port: address.port,
    user: address.username,
    password,
    connectTimeout: timeoutsMs.connect,
    multipleStatements: false,
    enableCleartextPlugin: false,
    // The host must not read files of this machine.
    flags: ['-LOCAL_FILES'],
    // Workers do not allow eval.
    disableEval: true,
    ...(tls ? { ssl: { rejectUnauthorized: false } } : {}),
  })
  // Pending calls get the error; without a listener it would end the process.
  connection.on('error', () => undefined)
  try {
    await new Promise<void>((resolve, reject) => {
      connection.connect((error) => (error ? reject(error) : resolve()))
    })
  } catch (error) {
    connection.destroy()
    throw error
  }
  return connection
}

const sendQuery = (connection: Connection, sql: string, values: unknown[], timeout: number) =>
  new Promise<unknown>((resolve, reject) => {
    connection.query({ sql, values, timeout }, (error, rows) => (error ? reject(error) : resolve(rows)))
  })

/** The lowest error number of the protocol; lower ones are of sockets. */
const minServerErrno = 1000

/** Whether the error is the answer of the host, so that the statement was not executed. */
function isServerError(error: unknown): boolean {
  const { errno } = error as { errno?: unknown }
  return typeof errno === 'number' && errno >= minServerErrno
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? 'no answer')

/** Converts an error of the driver, of which only the code is kept: messages quote statements. */
function toHostError(error: unknown, mayHaveChanged: boolean): MysqlHostError {
  const code = codeOf(error)
  if (code === databaseExists) {
    return new MysqlHostError('exists', 'The database host has a database of that name.', mayHaveChanged)
  }
  if (isServerError(error) || /^(AUTH_|MYSQL_CLEAR)/.test(code)) {
    return new MysqlHostError('refused', `The database host refused: ${code}.`, mayHaveChanged)
  }
  return new MysqlHostError('unreachable', `The database host gave no answer: ${code}.`, mayHaveChanged)
}
