import type { Egg } from '../db/tables/eggs.ts'

/** What an egg says of its game; features are those in effect. */
export type GameHints = Pick<Egg, 'queryGame' | 'features' | 'name' | 'startup'>

/** Names and commands by which eggs of known games are told, with gamedig's name of the game; the first match counts. */
const known: readonly (readonly [pattern: RegExp, game: string])[] = [
  [/\bbedrock(_server)?\b/i, 'mbe'],
  [/\b(paper|spigot|purpur|fabric|forge|bungeecord|waterfall|velocity|minecraft)\b/i, 'minecraft'],
  [/\bRustDedicated\b/, 'rust'],
  [/\bcs2\b|counter-strike 2/i, 'counterstrike2'],
  [/valheim/i, 'valheim'],
  [/\bgarry'?s ?mod\b|\bgmod\b/i, 'garrysmod'],
  [/\bteam fortress 2\b|-game tf\b/i, 'teamfortress2'],
  [/\bleft 4 dead 2\b|-game left4dead2\b/i, 'l4d2'],
  [/\bcs:?go\b|-game csgo\b/i, 'csgo'],
  [/ark: survival evolved|ShooterGameServer/i, 'ase'],
  [/project ?zomboid/i, 'projectzomboid'],
  [/\bunturned\b/i, 'unturned'],
  [/\barma ?3\b|arma3server/i, 'arma3'],
  [/\bopenttd\b/i, 'openttd'],
  [/\b(mumble|murmur)\b/i, 'mumble'],
  [/\bxonotic\b/i, 'xonotic'],
]

/**
 * The game by which servers of the egg are asked who plays, as gamedig names it: what an administrator set,
 * else a guess. Null where nobody knows.
 */
export function gameOf(egg: GameHints): string | null {
  if (egg.queryGame) return egg.queryGame
  const text = `${egg.name} ${egg.startup}`
  const guess = known.find(([pattern]) => pattern.test(text))?.[1]
  // Accepting an EULA is what Minecraft servers ask of everybody.
  return guess ?? (egg.features?.includes('eula') ? 'minecraft' : null)
}
