import { connect } from 'node:net'
import { mysqlAdmin, startTcpStub, type TcpStub } from './mysql.ts'

export type MysqlProxy = TcpStub & {
  /** From now on the answers to statements that contain this text get lost, though they are carried out. */
  loseAnswersTo: (text: string | null) => void
}

/** The real MariaDB behind a line that can lose answers. */
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
