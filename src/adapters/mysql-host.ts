import type { Connection } from 'mysql2'

/** Milliseconds for reaching a host and logging in, for one statement, and for all of one call. */
const timeouts = { connect: 5000, statement: 10_000, call: 15_000 }
/** Seconds for which a statement waits for others that use the same database: less than its own time. */
const lockWait = 8

const databaseExists = 'ER_DB_CREATE_EXISTS'
const noTls = 'HANDSHAKE_NO_SSL_SUPPORT'

/** What the user of a database may do in it. */
const privileges = [
  'SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, REFERENCES, INDEX, LOCK TABLES, EXECUTE',
  'CREATE ROUTINE, ALTER ROUTINE, CREATE TEMPORARY TABLES, CREATE VIEW, SHOW VIEW, EVENT, TRIGGER',
].join(', ')

/** Where a MariaDB or MySQL server is, and how to log in there. */
export type MysqlAddress = {
  host: string
  port: number
  username: string
  password: () => Promise<string>
}

/** A database with its one user; `remote` is the address pattern from which the user may connect. */
export type HostedDatabase = { database: string; username: string; remote: string }

/** A server on which databases of game servers stand. Every call may throw a `MysqlHostError`. */
export type MysqlHost = {
  /** Logs in and says who answers; `tls` is whether it was asked in secret. */
  ping: () => Promise<{ version: string; tls: boolean }>
  /** Makes the database, and a user who may use it and nothing else. 0 connections are unlimited. */
  createDatabase: (made: HostedDatabase & { password: string; maxConnections: number }) => Promise<void>
  /** Neither the database nor its user is there afterwards; neither being there before is fine. */
  dropDatabase: (dropped: HostedDatabase) => Promise<void>
  /** The user logs in with this password from now on. */
  setPassword: (account: Omit<HostedDatabase, 'database'>, password: string) => Promise<void>
}

/** Why a host did not do it: it gave no answer, said no, or holds a database of that name already. */
type Reason = 'unreachable' | 'refused' | 'exists'

/** A database host that could not be reached or said no. Says nothing of statements: they hold passwords. */
export class MysqlHostError extends Error {
  readonly reason: Reason
  /** False when it is certain that the host is as it was. */
  readonly mayHaveChanged: boolean

  constructor(reason: Reason, message: string, mayHaveChanged: boolean) {
    super(message)
    this.name = 'MysqlHostError'
    this.reason = reason
    this.mayHaveChanged = mayHaveChanged
  }
}

/** The host at an address, over the MySQL protocol; the driver is loaded by the first call. */
export function mysqlHost(address: MysqlAddress): MysqlHost {
  return {
    ping: () =>
      inSession(address, async ({ ask, tls }) => {
        const [row] = (await ask('SELECT VERSION() AS version')) as { version: unknown }[]
        return { version: String(row?.version ?? ''), tls }
      }),
    createDatabase: (made) => inSession(address, (session) => create(session, made)),
    dropDatabase: ({ database, username, remote }) =>
      inSession(address, async ({ change }) => {
        await change(`DROP DATABASE IF EXISTS ${quoted(database)}`)
        await change('DROP USER IF EXISTS ?@?', [username, remote])
      }),
    setPassword: ({ username, remote }, password) =>
      inSession(address, ({ change }) =>
        change('ALTER USER ?@? IDENTIFIED BY ?', [username, remote, password]),
      ),
  }
}

type Session = {
  tls: boolean
  /** Runs a statement that changes nothing. */
  ask: (statement: string, values?: unknown[]) => Promise<unknown>
  change: (statement: string, values?: unknown[]) => Promise<void>
}

/** The database comes first: one that exists already belongs to somebody else and stays untouched. */
async function create(
  { ask, change }: Session,
  { database, username, remote, password, maxConnections }: Parameters<MysqlHost['createDatabase']>[0],
): Promise<void> {
  const switches = (await ask("SHOW VARIABLES LIKE 'partial_revokes'")) as { Value?: unknown }[]
  const isLiteral = switches[0]?.Value === 'ON'
  await change(`CREATE DATABASE ${quoted(database)}`)
  await change('CREATE USER ?@? IDENTIFIED BY ? WITH MAX_USER_CONNECTIONS ?', [
    username,
    remote,
    password,
    maxConnections,
  ])
  const granted = quoted(database, { isPattern: !isLiteral })
  await change(`GRANT ${privileges} ON ${granted}.* TO ?@?`, [username, remote])
}

/**
 * A name between backticks; the only way for one into a statement. In a grant a name is a pattern, in
 * which an underscore stands for any character, unless MySQL's `partial_revokes` is on. Throws for a
 * name that the panel cannot have made.
 */
function quoted(name: string, { isPattern = false } = {}): string {
  if (!/^[\w-]{1,64}$/.test(name)) throw new Error('This is no name of a database.')
  return `\`${isPattern ? name.replaceAll('_', '\\_') : name}\``
}

async function inSession<T>(address: MysqlAddress, work: (session: Session) => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const { connection, tls } = await connect(address)
  let hasChanged = false
  const run = async (statement: string, values: unknown[], isChange: boolean) => {
    const left = timeouts.call - (performance.now() - startedAt)
    if (left <= 0) throw new MysqlHostError('unreachable', 'The database host is too slow.', hasChanged)
    try {
      const rows = await query(connection, statement, values, Math.min(left, timeouts.statement))
      hasChanged ||= isChange
      return rows
    } catch (error) {
      throw failureOf(error, hasChanged || (isChange && !isAnswer(error)))
    }
  }
  try {
    const session: Session = {
      tls,
      ask: (statement, values = []) => run(statement, values, false),
      change: async (statement, values = []) => void (await run(statement, values, true)),
    }
    await session.ask('SET SESSION lock_wait_timeout = ?', [lockWait])
    const result = await work(session)
    connection.end(() => undefined)
    return result
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/**
 * Logs in over TLS where the host offers it, else in the open, where passwords are still never sent as
 * they are. Certificates are not checked: hosts make their own, and nothing says what they would have to be.
 */
async function connect(address: MysqlAddress): Promise<{ connection: Connection; tls: boolean }> {
  const password = await address.password()
  try {
    return { connection: await logIn(address, password, true), tls: true }
  } catch (error) {
    if (codeOf(error) !== noTls) throw failureOf(error, false)
  }
  try {
    return { connection: await logIn(address, password, false), tls: false }
  } catch (error) {
    throw failureOf(error, false)
  }
}

async function logIn(address: MysqlAddress, password: string, tls: boolean): Promise<Connection> {
  const { default: mysql } = await import('mysql2')
  const connection = mysql.createConnection({
    host: address.host,
    port: address.port,
    user: address.username,
    password,
    connectTimeout: timeouts.connect,
    multipleStatements: false,
    enableCleartextPlugin: false,
    // What a host asks to read of this machine it does not get.
    flags: ['-LOCAL_FILES'],
    // Workers refuse code that is made of text.
    disableEval: true,
    ...(tls ? { ssl: { rejectUnauthorized: false } } : {}),
  })
  // Whoever waits for an answer is told; an error that nobody listens for would end the process.
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

const query = (connection: Connection, sql: string, values: unknown[], timeout: number) =>
  new Promise<unknown>((resolve, reject) => {
    connection.query({ sql, values, timeout }, (error, rows) => (error ? reject(error) : resolve(rows)))
  })

/** Numbers below are those of this machine, for sockets; the protocol's begin here. */
const firstServerError = 1000

/** Whether the host itself said no, so that the statement was not carried out. */
function isAnswer(error: unknown): boolean {
  const { errno } = error as { errno?: unknown }
  return typeof errno === 'number' && errno >= firstServerError
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? 'no answer')

/** Messages of driver and host quote statements, so only the code of the error is told. */
function failureOf(error: unknown, mayHaveChanged: boolean): MysqlHostError {
  const code = codeOf(error)
  if (code === databaseExists) {
    return new MysqlHostError('exists', 'The database host has a database of that name.', mayHaveChanged)
  }
  if (isAnswer(error) || /^(AUTH_|MYSQL_CLEAR)/.test(code)) {
    return new MysqlHostError('refused', `The database host refused: ${code}.`, mayHaveChanged)
  }
  return new MysqlHostError('unreachable', `The database host gave no answer: ${code}.`, mayHaveChanged)
}
