import { readEnv } from '../../platform/env.ts'
import { callOperation, type Command } from '../command.ts'
import type { TestedMail } from '../operations/mail-test.ts'

/** `mail:test` */
export const mailTest: Command = {
  synopsis: 'mail:test ADDRESS',
  summary: 'Sends a mail to an address, or prints why the mail service refuses it.',
  help: `  ADDRESS    the recipient

Uses MAIL_DRIVER and the settings mail.from_name and mail.from_address. Without a mail service the
mail is stored in the outbox of the panel, which the output says.`,
  options: {},
  positionals: [1, 1],
  run: async (raw, args) => {
    const sent = await callOperation<TestedMail>(readEnv(raw), args, 'mail:test', { to: args.positionals[0] })
    const text = sent.is_stored
      ? `No mail service is configured: the mail to ${sent.to} was stored in the outbox.`
      : `The mail service accepted the mail to ${sent.to}.`
    return { text, json: sent }
  },
}
