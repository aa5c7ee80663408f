/** What the doctor looks at, in this order. */
export const doctorChecks = [
  'dns',
  'port',
  'certificate',
  'answer',
  'token',
  'version',
  'clock',
  'browser',
] as const

const anotherProgram =
  'Another program answers at this address: check the port, and any proxy in front of Wings.'
const renewal = 'Renew it (certbot renew), and restart Wings, which reads it at its start.'
const readLog = 'Read the log of Wings: journalctl -u wings.'

/**
 * What each finding means, and what to do about it. The web application has the same texts in every language, by the
 * code and with the same values (`src/locales/<language>/doctor.json`).
 */
export const findingTexts = {
  'dns.missing': [
    '{{host}} has no address.',
    'Add an A or AAAA record for {{host}}, or correct the host name of the node. The panel must be able to resolve it.',
  ],
  'dns.refused': [
    'The panel does not call the address of {{host}}.',
    'Link-local addresses and metadata of clouds are never called, and private ones only in EGRESS_PRIVATE_NETWORKS: correct the host name of the node, or ask the operator of the panel.',
  ],
  'dns.unknown': ['The panel cannot look up names here.'],
  'dns.found': ['{{host}} is {{addresses}}.'],
  'port.skipped': ['Without an address there is no port.'],
  'port.open': ['Port {{port}} accepts connections.'],
  'port.closed': [
    'Nothing listens on port {{port}}.',
    'Start Wings (systemctl status wings), and check that api.port in its config.yml is {{port}}.',
  ],
  'port.silent': [
    'Port {{port}} does not answer.',
    'Open port {{port}} for the panel in the firewall of the node and of its provider, and check that the machine runs.',
  ],
  'certificate.none': ['The node has no certificate: its scheme is http.'],
  'certificate.skipped': ['The certificate is read once the port answers.'],
  'certificate.valid': ['The certificate is valid until {{date}}.'],
  'certificate.accepted': ['The certificate is accepted.'],
  'certificate.ends_soon': ['The certificate ends on {{date}}.', renewal],
  'certificate.expired': ['The certificate expired on {{date}}.', renewal],
  'certificate.other_name': [
    'The certificate is for {{names}}, not for {{host}}.',
    'Use a certificate for {{host}}, or correct the host name of the node.',
  ],
  'certificate.untrusted': [
    'The certificate is not trusted ({{error}}).',
    'Use a certificate of a public authority, with the whole chain (fullchain.pem) in api.ssl.cert.',
  ],
  'certificate.refused': [
    'The certificate is not valid for the name of the node, has expired, or is not trusted.',
    renewal,
  ],
  'certificate.no_tls': [
    'The port does not speak TLS.',
    'Set api.ssl.enabled to true in config.yml with the files of the certificate, or put Wings behind a proxy.',
  ],
  'answer.ok': ['The daemon answers.'],
  'answer.dns': ['The host name of the node has no address.'],
  'answer.refused': ['Nothing listens on the port of the daemon.'],
  'answer.no_route': ['No way leads to the address of the node.'],
  'answer.certificate': ['The certificate of the node is not valid for its name.'],
  'answer.timeout': [
    'The node did not answer in time.',
    'Check the load of the node and whether Docker hangs (docker info), then restart Wings.',
  ],
  'answer.reset': [
    'The connection broke off before an answer.',
    'Check whether Wings speaks the scheme of the node, and whether a proxy or firewall closes the connection.',
  ],
  'answer.tls': [
    'The port of the daemon does not speak TLS as the panel expects.',
    'Wings speaks plain HTTP while the node has the scheme https, or the other way round: make api.ssl in config.yml and the scheme of the node agree.',
  ],
  'answer.answer': ['The answer is not one of Wings.', anotherProgram],
  'answer.failed': ['The daemon answered with status {{status}}.', readLog],
  'answer.unreachable': ['The node could not be reached.', readLog],
  'token.accepted': ['The daemon accepts the token of the panel.'],
  'token.skipped': ['The token is checked once the daemon answers.'],
  'token.unread': [
    'The daemon does not read the token (401).',
    'Configure Wings again with the command of this node, then restart it. A proxy must pass on the Authorization header.',
  ],
  'token.other': [
    'The daemon has another token (403).',
    'Configure Wings again with the command of this node, then restart it.',
  ],
  'version.skipped': ['The daemon has to answer first.'],
  'version.unknown': ['The daemon does not say its version.', anotherProgram],
  'version.current': ['Wings {{version}}.'],
  'version.old': [
    'Wings {{version}} is older than {{wanted}}.',
    'Update Wings: older versions keep consoles open for users who lost their access.',
  ],
  'clock.skipped': ['The daemon has not said its time.'],
  'clock.agrees': ['The clocks agree.'],
  'clock.ahead': [
    'The clock of the node is {{seconds}} seconds ahead of that of the panel.',
    'Switch on time synchronisation on the node (timedatectl set-ntp true). Tokens of consoles and downloads are refused while clocks differ.',
  ],
  'clock.behind': [
    'The clock of the node is {{seconds}} seconds behind that of the panel.',
    'Switch on time synchronisation on the node (timedatectl set-ntp true). Tokens of consoles and downloads are refused while clocks differ.',
  ],
  'browser.plain_http': [
    'Browsers refuse plain HTTP from a page under HTTPS.',
    'Give the node a certificate and the scheme https, or put it behind a proxy that has one.',
  ],
  'browser.ask': [
    'Consoles and uploads need the node to be reachable from the browser.',
    'Open the address in the browser. Any answer, also a refusal, shows that it is reachable.',
  ],
} as const satisfies Record<
  `${(typeof doctorChecks)[number]}.${string}`,
  readonly [meaning: string, advice?: string]
>
export type FindingCode = keyof typeof findingTexts
export const findingCodes = Object.keys(findingTexts) as [FindingCode, ...FindingCode[]]

/** Values that a text names. */
export type FindingValues = Record<string, string | number>

/** A finding: what it means, and what to do about it. `skipped` waits for an earlier check, `unknown` cannot be seen from here. */
export type DoctorCheck = {
  id: (typeof doctorChecks)[number]
  state: 'ok' | 'warning' | 'failed' | 'skipped' | 'unknown'
  code: FindingCode
  values: FindingValues
  meaning: string
  advice: string | null
  /** An address for the browser to try. */
  url: string | null
}

/** Builds a finding with its text. */
export function finding(
  state: DoctorCheck['state'],
  code: FindingCode,
  values: FindingValues = {},
  url: string | null = null,
): DoctorCheck {
  const [meaning, advice]: readonly [string, string?] = findingTexts[code]
  const id = code.slice(0, code.indexOf('.')) as DoctorCheck['id']
  const fill = (text: string) =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (_match, name: string) => String(values[name] ?? ''))
  return {
    id,
    state,
    code,
    values,
    meaning: fill(meaning),
    advice: advice === undefined ? null : fill(advice),
    url,
  }
}
