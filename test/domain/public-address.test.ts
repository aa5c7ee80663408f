import { describe, expect, it } from 'vitest'
import { parsePublicUrl } from '../../src/domain/files/public-url.ts'

describe('an address out in the internet', () => {
  it.each([
    ['https://example.org/a.jar', 'https://example.org/a.jar'],
    ['http://example.org:8080/a?b=c#d', 'http://example.org:8080/a?b=c#d'],
    ['HTTPS://EXAMPLE.org', 'https://example.org/'],
    ['https://cdn.example.co.uk./x', 'https://cdn.example.co.uk./x'],
    ['https://bücher.example.org/ä', 'https://xn--bcher-kva.example.org/%C3%A4'],
    ['http://8.8.8.8/x', 'http://8.8.8.8/x'],
    ['http://134744072/x', 'http://8.8.8.8/x'],
    ['http://[2606:4700::1111]/x', 'http://[2606:4700::1111]/x'],
    ['https://10.example.org/', 'https://10.example.org/'],
    ['https://example.org/@user:x', 'https://example.org/@user:x'],
  ])('%s is taken', (text, expected) => {
    expect(parsePublicUrl(text)?.href).toBe(expected)
  })

  it.each([
    '',
    'x',
    '//example.org/x',
    'ftp://example.org/x',
    'file:///etc/passwd',
    'gopher://example.org/',
    'javascript:alert(1)',
    'http://',
    'https://user:secret@example.org/',
    'https://user@example.org/',
    'https://:@example.org/',
    'https://@example.org/',
    'https:\\\\@example.org/',
    'https://exam\nple.org/',
    'https://exam\tple.org/',
    'https://example.org/a b',
    'https://example.org/\r\nHost: x',
  ])('%j is none', (text) => {
    expect(parsePublicUrl(text)).toBeNull()
  })

  const inner = `
    127.0.0.1 127.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 127.0.0.1. 0 0.0.0.0
    10.0.0.1 012.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 3232235777 169.254.169.254 0xa9fea9fe
    2852039166 100.64.0.1 198.18.0.1 192.0.0.1 224.0.0.1 240.0.0.1 255.255.255.255 192.0.2.1
    １２７.0.0.1 127。0。0。1 %31%32%37.0.0.1 [::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1]
    [::ffff:7f00:1] [::127.0.0.1] [::ffff:0:127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::1]
    [2002:7f00:1::] [2001::1] [fe80::1] [fc00::1] [fd12:3456::1] [fec0::1] [ff02::1] [2001:db8::1]
    [100::1] localhost LOCALHOST localhost. a.localhost localhost.localdomain ip6-localhost redis
    metadata metadata.google.internal printer.local nas.lan router.home.arpa host.docker.internal
    ⓛocalhost x.onion 1.0.0.127.in-addr.arpa .. a..internal
  `
  it.each(inner.trim().split(/\s+/))('%s is none', (host) => {
    expect(parsePublicUrl(`http://${host}/x`)).toBeNull()
    expect(parsePublicUrl(`https://${host}:8443/x`)).toBeNull()
  })
})
