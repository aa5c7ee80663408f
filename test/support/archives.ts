import { crc32, deflateRawSync } from 'node:zlib'
import { Header } from 'tar'

export type ZipMember = {
  name: string
  content?: string | Buffer
  mode?: number
  stored?: boolean
  flags?: number
}

/** Builds a zip of the given members, exactly as they are given. */
export function zipOf(members: ZipMember[], comment = ''): Buffer {
  const bodies: Buffer[] = []
  const records: Buffer[] = []
  let offset = 0
  for (const { name, content = '', mode, stored = false, flags = 0x800 } of members) {
    const data = Buffer.from(content as string)
    const packed = stored ? data : deflateRawSync(data)
    const bytes = Buffer.from(name)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(bytes.length, 26)
    const record = Buffer.alloc(46)
    record.writeUInt32LE(0x02014b50, 0)
    record.writeUInt16LE(mode === undefined ? 20 : (3 << 8) | 20, 4)
    record.writeUInt16LE(flags, 8)
    record.writeUInt16LE(stored ? 0 : 8, 10)
    // Noon of 15 March 2024.
    record.writeUInt16LE(12 << 11, 12)
    record.writeUInt16LE(((2024 - 1980) << 9) | (3 << 5) | 15, 14)
    record.writeUInt32LE(crc32(data), 16)
    record.writeUInt32LE(packed.length, 20)
    record.writeUInt32LE(data.length, 24)
    record.writeUInt16LE(bytes.length, 28)
    record.writeUInt16LE(mode ?? 0, 40)
    record.writeUInt32LE(offset, 42)
    const body = Buffer.concat([local, bytes, packed])
    bodies.push(body)
    records.push(Buffer.concat([record, bytes]))
    offset += body.length
  }
  const directory = Buffer.concat(records)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(members.length, 8)
  end.writeUInt16LE(members.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  end.writeUInt16LE(comment.length, 20)
  return Buffer.concat([...bodies, directory, end, Buffer.from(comment)])
}

export type TarMember = { path: string; content?: string; mode?: number; linkTo?: string }

/** Builds a tar of the given members, exactly as they are given; a path that ends in a slash is a folder. */
export function tarOf(members: TarMember[]): Buffer {
  const blocks = members.map(({ path, content = '', mode = 0o644, linkTo }) => {
    const size = Buffer.byteLength(content)
    const type = linkTo !== undefined ? 'SymbolicLink' : path.endsWith('/') ? 'Directory' : 'File'
    const block = Buffer.alloc(512 + Math.ceil(size / 512) * 512)
    const mtime = new Date('2024-03-15T12:00:00Z')
    new Header({
      path,
      size,
      mode,
      type,
      mtime,
      ...(linkTo === undefined ? {} : { linkpath: linkTo }),
    }).encode(block, 0)
    block.write(content, 512)
    return block
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}
