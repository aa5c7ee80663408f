import { readEnv } from '../../platform/env.ts'
import { callOperation, type Command } from '../command.ts'
import type { PasswordResetByOperator, TwoFactorResetByOperator } from '../operations/user-resets.ts'

const userHelp = '  USER    user name, e-mail address or id'

/** `user:reset-password` */
export const userResetPassword: Command = {
  synopsis: 'user:reset-password USER',
  summary: 'Removes the password of an account, and prints a link with which its user chooses another.',
  help: `${userHelp}

The old password is refused at once, all sessions end, and the nodes drop consoles and SFTP sessions. The
user gets a mail with a link of their own. API keys and passkeys stay.`,
  options: {},
  positionals: [1, 1],
  run: async (raw, args) => {
    const input = { user: args.positionals[0] }
    const reset = await callOperation<PasswordResetByOperator>(
      readEnv(raw),
      args,
      'user:reset-password',
      input,
    )
    const { user, url, valid_days: days } = reset
    const text = `The password of ${user.username} was removed. This link sets another, once, within ${days} days:\n${url}`
    return { text, json: reset }
  },
}

/** `user:reset-2fa` */
export const userResetTwoFactor: Command = {
  synopsis: 'user:reset-2fa USER',
  summary: 'Switches off the two-factor authentication of an account whose user lost it.',
  help: `${userHelp}

Deletes the secret and the recovery tokens, ends all sessions, and tells the user by mail.`,
  options: {},
  positionals: [1, 1],
  run: async (raw, args) => {
    const input = { user: args.positionals[0] }
    const reset = await callOperation<TwoFactorResetByOperator>(readEnv(raw), args, 'user:reset-2fa', input)
    const { user, was_enabled: wasEnabled } = reset
    const text = wasEnabled
      ? `Two-factor authentication of ${user.username} was switched off.`
      : `${user.username} has no two-factor authentication: nothing was changed.`
    return { text, json: reset }
  },
}
