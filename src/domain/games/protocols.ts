import type { Egg } from '../../db/tables/eggs.ts'

/** What tells the game of an egg; `features` include inherited ones. */
export type GameHints = Pick<Egg, 'queryGame' | 'features' | 'name' | 'startup'>

/** Patterns of names and commands of known games → gamedig's type; the first match counts. */
const gamePatterns: readonly (readonly [pattern: RegExp, game: string])[] = [
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

/** Returns gamedig's type for servers of an egg: what an administrator set, else a guess; null when unknown. */
export function detectGame(egg: GameHints): string | null {
  if (egg.queryGame) return egg.queryGame
  const text = `${egg.name} ${egg.startup}`
  const guess = gamePatterns.find(([pattern]) => pattern.test(text))?.[1]
  // Minecraft is the game whose eggs ask for an EULA.
  return guess ?? (egg.features?.includes('eula') ? 'minecraft' : null)
}
