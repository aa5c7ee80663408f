import { readEnv } from '../../platform/env.ts'
import { ask, columns, type Command, textOption } from '../command.ts'
import type { CreatedUser } from '../verbs/user-create.ts'

/** `user:create` */
export const userCreate: Command = {
  synopsis: 'user:create --email ADDRESS --username NAME [options]',
  summary: 'Adds an account and prints its id, uuid and user name.',
  help: `  --email ADDRESS
  --username NAME     kept in lower case
  --first-name NAME   the user name when left out
  --last-name NAME    "User" when left out
  --password TEXT     at least 8 characters; when left out, a random one is made and printed, once
  --admin             makes an administrator`,
  options: {
    email: { type: 'string' },
    username: { type: 'string' },
    'first-name': { type: 'string' },
    'last-name': { type: 'string' },
    password: { type: 'string' },
    admin: { type: 'boolean' },
  },
  required: ['email', 'username'],
  words: [0, 0],
  run: async (raw, given) => {
    const user = await ask<CreatedUser>(readEnv(raw), 'user:create', {
      email: textOption(given, 'email'),
      username: textOption(given, 'username'),
      first_name: textOption(given, 'first-name'),
      last_name: textOption(given, 'last-name'),
      // As it was written: a password may begin or end with a space.
      password: given.values.password,
      root_admin: given.values.admin,
    })
    return { text: describe(user), json: user }
  },
}

const describe = (user: CreatedUser) =>
  columns([
    ['id', user.id],
    ['uuid', user.uuid],
    ['username', user.username],
    ...(user.password === undefined ? [] : [['password', user.password] as [string, string]]),
  ])
