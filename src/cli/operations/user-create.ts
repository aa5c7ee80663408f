import type * as z from 'zod'
import { randomText } from '../../domain/secrets.ts'
import { newPasswordFields } from '../../domain/auth/password.ts'
import { addUser, UserInput } from '../../domain/users/users.ts'
import type { Panel } from '../../panel.ts'

/** The input of `user:create`: the fields of an account, of which first and last name may be left out. */
export const UserCreateInput = () =>
  UserInput()
    .extend({ password: newPasswordFields().password.nullish() })
    .partial({ first_name: true, last_name: true })

export type CreatedUser = {
  id: number
  uuid: string
  username: string
  email: string
  root_admin: boolean
  /** Only when it was generated. */
  password?: string
}

const passwordLength = 20

/**
 * Adds an account. Without a password it gets a random one, which only this output has, and the mail with a link to
 * choose another. Refuses as `addUser`.
 */
export async function createUser(
  panel: Panel,
  input: z.output<ReturnType<typeof UserCreateInput>>,
): Promise<CreatedUser> {
  const temporaryPassword = input.password ? null : randomText(passwordLength)
  const { first_name = input.username, last_name = 'User' } = input
  const user = await addUser(panel, { ...input, first_name, last_name }, { temporaryPassword })
  return {
    id: user.id,
    uuid: user.uuid,
    username: user.username,
    email: user.email,
    root_admin: user.rootAdmin,
    ...(temporaryPassword === null ? {} : { password: temporaryPassword }),
  }
}
