import { readEnv } from '../../platform/env.ts'
import { callOperation, columns, type Command, textOption } from '../command.ts'
import type { CreatedUser } from '../operations/user-create.ts'

/** `user:create` */
export const userCreate: Command = {
  synopsis: 'user:create --email ADDRESS --username NAME [options]',
  summary: 'Adds an account and prints its id, uuid and user name.',
  help: `  --email ADDRESS
  --username NAME     stored in lower case
  --first-name NAME   default: the user name
  --last-name NAME    default: User
  --password TEXT     at least 8 characters; default: a random one, which is printed once, and a mail to the
                      user with a link to choose another
  --admin             creates an administrator`,
  options: {
    email: { type: 'string' },
    username: { type: 'string' },
    'first-name': { type: 'string' },
    'last-name': { type: 'string' },
    password: { type: 'string' },
    admin: { type: 'boolean' },
  },
  required: ['email', 'username'],
  positionals: [0, 0],
  run: async (raw, args) => {
    const user = await callOperation<CreatedUser>(readEnv(raw), args, 'user:create', {
      email: textOption(args, 'email'),
      username: textOption(args, 'username'),
      first_name: textOption(args, 'first-name'),
      last_name: textOption(args, 'last-name'),
      // Not trimmed: a password may begin or end with a space.
      password: args.values.password,
      root_admin: args.values.admin,
    })
    return { text: formatUser(user), json: user }
  },
}

const formatUser = (user: CreatedUser) =>
  columns([
    ['id', user.id],
    ['uuid', user.uuid],
    ['username', user.username],
    ...(user.password === undefined ? [] : [['password', user.password] as [string, string]]),
  ])
