import { connect } from 'node:net'
import { mysqlAdmin, startTcpStub, type TcpStub } from './mysql.ts'

export type MysqlProxy = TcpStub & {
  /** Loses the responses of statements that contain this text, though they are executed. */
  loseAnswersTo: (text: string | null) => void
}

/** Starts a proxy in front of the real MariaDB that can lose answers. */
export async function startMysqlProxy(): Promise<MysqlProxy> {
  let lost: string | null = null
  const stub = await startTcpStub((socket) => {
    const upstream = connect(mysqlAdmin.port, mysqlAdmin.host)
    let isSilent = false
    socket.on('data', (chunk) => {
      isSilent ||= lost !== null && chunk.includes(lost)
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => (isSilent ? socket.destroy() : socket.write(chunk)))
    upstream.on('error', () => socket.destroy())
    upstream.on('close', () => socket.destroy())
    socket.on('close', () => upstream.destroy())
  })
  return { ...stub, loseAnswersTo: (text) => void (lost = text) }
}
