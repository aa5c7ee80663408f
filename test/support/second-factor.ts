import { eq } from 'drizzle-orm'
import { base32 } from 'oslo/encoding'
import { generateHOTP } from 'oslo/otp'
import { users } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { generateRecoveryTokens, replaceRecoveryTokens } from '../../src/domain/auth/recovery-tokens.ts'
import { encrypt } from '../../src/domain/secrets.ts'
import { generateTotpSecret } from '../../src/domain/auth/totp.ts'
import type { World } from './world.ts'

/** The authenticator of an account. */
export type SecondFactor = {
  /** Generates the code of the step that is `steps` from now. */
  code: (steps?: number) => Promise<string>
  tokens: string[]
}

/** Gives the account a second factor with recovery tokens. */
export async function giveSecondFactor(world: World, user: Pick<User, 'id' | 'uuid'>): Promise<SecondFactor> {
  const secret = generateTotpSecret()
  const totpSecret = await encrypt(world.panel, secret, {
    table: 'users',
    column: 'totp_secret',
    row: user.uuid,
  })
  const { db } = world.database
  await db.update(users).set({ totpSecret, totpEnabledAt: world.clock.now }).where(eq(users.id, user.id))
  const { tokens, hashes } = await generateRecoveryTokens(user)
  await replaceRecoveryTokens({ ...world.panel, db }, user.id, hashes)
  const step = () => Math.floor(world.clock.now.getTime() / 30_000)
  return { code: (steps = 0) => generateHOTP(base32.decode(secret), step() + steps), tokens }
}
