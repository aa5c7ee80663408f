/** What the `.env` of an old panel says that a move needs; empty texts for what is missing. */
export type OldEnv = { appKey: string; previousKeys: string; timezone: string; env: Record<string, string> }

/** Names that say something about settings, passkeys and ids: those that the command line reads, too. */
const readNames =
  /^(?:APP_(?:NAME|URL|LOCALE|TIMEZONE|2FA_REQUIRED|BACKUP_DRIVER|ACTIVITY_\w+|ENVIRONMENT_ONLY)|(?:MAIL|RECAPTCHA|CAPTCHA|OAUTH|PTERODACTYL|PANEL|BACKUP|GUZZLE|HASHIDS)_\w+)$/

/** Reads the text of a `.env`: the last value of a name, without quotes around it. */
export function readOldEnv(text: string): OldEnv {
  const all: Record<string, string> = {}
  for (const line of text.split(/\r?\n/)) {
    const [, name, value = ''] = /^\s*(?:export\s+)?(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (name !== undefined) all[name] = value.replace(/^(["'])(.*)\1.*$/, '$2').replace(/\s+#.*$/, '')
  }
  // One level, as in MAIL_FROM_NAME="${APP_NAME}".
  const expanded = Object.entries(all).map(
    ([name, value]) =>
      [name, value.replaceAll(/\$\{(\w+)\}/g, (_, other: string) => all[other] ?? '')] as const,
  )
  return {
    appKey: all.APP_KEY ?? '',
    previousKeys: all.APP_PREVIOUS_KEYS ?? '',
    timezone: all.APP_TIMEZONE ?? '',
    env: Object.fromEntries(expanded.filter(([name]) => readNames.test(name))),
  }
}
