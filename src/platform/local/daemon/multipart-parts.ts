const longestHead = 16 * 1024

/** One part of a multipart body; its content must be read to the end before the next part is. */
export type Part = { name: string; fileName: string | undefined; content: AsyncIterable<Buffer> }

/** The boundary in a Content-Type, or undefined when it is no multipart form. */
export function boundaryOf(contentType: string | undefined): string | undefined {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;.*\bboundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType ?? '') ?? []
  return quoted ?? plain
}

/** The parts of a multipart body as they arrive, however large they are. Throws when the body ends early. */
export async function* readParts(body: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Part> {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const input = openInput(body)
  for await (const _chunk of input.until(delimiter)) continue
  while ((await input.take(2)) !== '--') {
    const head = await input.text('\r\n\r\n')
    const content = input.until(delimiter)
    const [, fileName] = /;\s*filename="((?:[^"\\]|\\.)*)"/i.exec(head) ?? []
    yield {
      name: /;\s*name="([^"]*)"/i.exec(head)?.[1] ?? '',
      fileName: fileName?.replace(/\\(["\\])/g, '$1'),
      content,
    }
    for await (const _chunk of content) continue
  }
}

/** A reader of a stream that stops at marks. The first delimiter has no line before it, so one is put there. */
function openInput(body: AsyncIterable<Buffer>) {
  const chunks = body[Symbol.asyncIterator]()
  let pending: Buffer = Buffer.from('\r\n')

  async function more(): Promise<void> {
    const { done, value } = await chunks.next()
    if (done) throw new Error('the multipart body ends early')
    pending = pending.length === 0 ? value : Buffer.concat([pending, value])
  }

  function cut(length: number): Buffer {
    const piece = pending.subarray(0, length)
    pending = pending.subarray(length)
    return piece
  }

  async function* until(mark: Buffer): AsyncGenerator<Buffer> {
    for (let at = pending.indexOf(mark); ; at = pending.indexOf(mark)) {
      // What is left may be the beginning of the mark.
      const length = at < 0 ? pending.length - mark.length + 1 : at
      if (length > 0) yield cut(length)
      if (at >= 0) return void cut(mark.length)
      await more()
    }
  }

  return {
    until,
    take: async (length: number): Promise<string> => {
      while (pending.length < length) await more()
      return cut(length).toString('latin1')
    },
    text: async (mark: string): Promise<string> => {
      while (!pending.includes(mark)) {
        if (pending.length > longestHead) throw new Error('the head of a part is too long')
        await more()
      }
      return cut(pending.indexOf(mark) + mark.length).toString('utf8')
    },
  }
}
