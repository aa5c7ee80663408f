import { setLineWriter } from '../log.ts'

/** Characters that are kept before they are written in between. */
const maxKeptCharacters = 65_536

/**
 * Writes the log lines of all requests that are answered in one turn of the event loop at once: a write of its own would
 * take as long as much else of a request. What is kept when the process ends is written before.
 */
export function writeLinesTogether(write: (text: string) => void = (text) => console.log(text)): void {
  let kept = ''
  const flush = () => {
    if (kept === '') return
    const text = kept
    kept = ''
    write(text)
  }
  setLineWriter((line) => {
    if (kept === '') setImmediate(flush)
    kept = kept === '' ? line : `${kept}\n${line}`
    if (kept.length > maxKeptCharacters) flush()
  })
  process.once('exit', flush)
}
