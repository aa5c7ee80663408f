import type { World } from './world.ts'

/** Sends the mails that wait, and returns the tokens of those to this address that verify it, oldest first. */
export async function emailTokens(world: World, address: string): Promise<string[]> {
  return linkTokens(world, address, /\/account\/verify-email\/([A-Za-z0-9]{43})\n/)
}

/** Does the same for links to a new password. */
export async function resetTokens(world: World, address: string): Promise<string[]> {
  return linkTokens(world, address, /\/auth\/password\/reset\/([A-Za-z0-9]{43})\?/)
}

async function linkTokens(world: World, address: string, pattern: RegExp): Promise<string[]> {
  await world.runJobs()
  const mails = (await world.mails()).filter(({ to }) => to === address)
  return mails.flatMap(({ text }) => pattern.exec(text)?.[1] ?? [])
}
