import type * as z from 'zod'
import { randomText } from '../../domain/secrets.ts'
import { addUser, UserInput } from '../../domain/users.ts'
import type { Panel } from '../../panel.ts'

/** What `user:create` is given: the fields of an account, of which the names of the person may be left out. */
export const UserCreation = () => UserInput().partial({ first_name: true, last_name: true })

export type CreatedUser = {
  id: number
  uuid: string
  username: string
  email: string
  root_admin: boolean
  /** Only when it was made up here. */
  password?: string
}

const passwordLength = 20

/** Adds an account; without a password it gets a random one, told once. Refuses what `addUser` refuses. */
export async function createUser(
  panel: Panel,
  input: z.output<ReturnType<typeof UserCreation>>,
): Promise<CreatedUser> {
  const password = input.password ?? randomText(passwordLength)
  const { first_name = input.username, last_name = 'User' } = input
  const user = await addUser(panel, { ...input, first_name, last_name, password })
  return {
    id: user.id,
    uuid: user.uuid,
    username: user.username,
    email: user.email,
    root_admin: user.rootAdmin,
    ...(input.password ? {} : { password }),
  }
}
