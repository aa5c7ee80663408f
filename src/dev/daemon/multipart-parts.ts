const maxHeadBytes = 16 * 1024

/** A part of a multipart body, whose content must be read before the next part. */
export type Part = { name: string; fileName: string | undefined; content: AsyncIterable<Buffer> }

/** Reads the boundary of a Content-Type; undefined when it is not a multipart form. */
export function readBoundary(contentType: string | undefined): string | undefined {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;.*\bboundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType ?? '') ?? []
  return quoted ?? plain
}

/** Reads the parts of a multipart body as they arrive, of any size. Throws when the body ends early. */
export async function* readParts(body: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Part> {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const input = createReader(body)
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

/** Creates a reader that stops at delimiters. The first delimiter has no line break before it, so one is added. */
function createReader(body: AsyncIterable<Buffer>) {
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
      // The last bytes may be the beginning of the mark.
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
        if (pending.length > maxHeadBytes) throw new Error('the header of a part is too long')
        await more()
      }
      return cut(pending.indexOf(mark) + mark.length).toString('utf8')
    },
  }
}
