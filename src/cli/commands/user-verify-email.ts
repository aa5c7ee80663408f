import { readEnv } from '../../platform/env.ts'
import { callOperation, type Command } from '../command.ts'
import type { UserWithVerifiedEmail } from '../operations/user-verify-email.ts'

/** `user:verify-email` */
export const userVerifyEmail: Command = {
  synopsis: 'user:verify-email USER',
  summary: 'Verifies the e-mail address of an account that gets no mail.',
  help: `  USER                the id or the user name`,
  options: {},
  positionals: [1, 1],
  run: async (raw, args) => {
    const [name = ''] = args.positionals
    const user = await callOperation<UserWithVerifiedEmail>(readEnv(raw), args, 'user:verify-email', {
      user: name,
    })
    return { text: `${user.email} is the verified address of ${user.username}.`, json: user }
  },
}
