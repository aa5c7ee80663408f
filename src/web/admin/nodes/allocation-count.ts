/** What one request may create, as the panel limits it. */
export const maxAllocations = 1000

const maxPortsPerRange = 1000
const [minPort, maxPort] = [1025, 65_535]
const minPrefixLength = 25

export type AllocationCount = { addresses: number; ports: number; total: number }

/** Counts what an address or range of them and a list of ports make together; null while one of them cannot be read. */
export function countAllocations(ip: string, ports: string): AllocationCount | null {
  const addresses = countAddresses(ip.trim())
  const numbers = readPorts(ports)
  if (addresses === null || numbers === null) return null
  return { addresses, ports: numbers.size, total: addresses * numbers.size }
}

function countAddresses(ip: string): number | null {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(ip) ?? []
  const parts = address.split('.')
  const isIpv4 = parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)
  if (prefix === undefined) return isIpv4 || /^[\da-f:.]*:[\da-f:.]*$/i.test(address) ? 1 : null
  const length = Number(prefix)
  return isIpv4 && length >= minPrefixLength && length <= 32 ? 2 ** (32 - length) : null
}

/** Lists the ports that a text names, each of them once. */
function readPorts(text: string): Set<number> | null {
  const numbers = new Set<number>()
  const parts = splitPorts(text)
  for (const part of parts) {
    const [, start, end = start] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? []
    const low = Math.min(Number(start), Number(end))
    const high = Math.max(Number(start), Number(end))
    if (!(low >= minPort && high <= maxPort && high - low < maxPortsPerRange)) return null
    for (let port = low; port <= high; port += 1) numbers.add(port)
  }
  return parts.length > 0 ? numbers : null
}

/** Lists the ports and ranges of a text. */
export const splitPorts = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)
