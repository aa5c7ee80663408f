/** The ports that servers of a game usually take, as ranges for some servers side by side. */
export type UsualPorts = { game: string; ports: string }

/** Patterns of the names of eggs → their game; the first match counts. */
const usualPorts: readonly (UsualPorts & { eggs: RegExp })[] = [
  { game: 'Minecraft: Bedrock', ports: '19132-19141', eggs: /bedrock|pocketmine|nukkit/i },
  {
    game: 'Minecraft: Java',
    ports: '25565-25574',
    eggs: /minecraft|paper|vanilla|velocity|spigot|purpur|fabric|forge|bungee|waterfall|sponge|^demo$/i,
  },
  { game: 'Rust', ports: '28015-28024', eggs: /^rust\b/i },
  { game: 'Valheim', ports: '2456-2465', eggs: /valheim/i },
  { game: 'Terraria', ports: '7777-7786', eggs: /terraria|tshock|tmodloader/i },
  { game: 'Factorio', ports: '34197-34206', eggs: /factorio/i },
  { game: 'ARK', ports: '7777-7786, 27015-27024', eggs: /\bark\b/i },
  { game: 'Project Zomboid', ports: '16261-16280', eggs: /zomboid/i },
  { game: 'Palworld', ports: '8211-8220', eggs: /palworld/i },
  { game: 'Satisfactory', ports: '7777-7786, 8888-8897', eggs: /satisfactory/i },
  { game: '7 Days to Die', ports: '26900-26919', eggs: /7 days/i },
  { game: 'Enshrouded', ports: '15636-15645', eggs: /enshrouded/i },
  { game: 'Mumble', ports: '64738-64747', eggs: /mumble|murmur/i },
  { game: 'TeamSpeak', ports: '9987-9996, 30033-30042', eggs: /teamspeak/i },
  {
    game: 'Source',
    ports: '27015-27024',
    eggs: /steamcmd|counter-strike|garry|team fortress|left 4 dead|source|\bcs/i,
  },
  { game: 'Node.js', ports: '3000-3009', eggs: /node\.?js/i },
]

/** Returns the usual ports of the game of an egg, or null for an unknown one. */
export function usualPortsOf(eggName: string): UsualPorts | null {
  const found = usualPorts.find(({ eggs }) => eggs.test(eggName))
  return found ? { game: found.game, ports: found.ports } : null
}

/** Lists the games of eggs with their usual ports, each once. */
export function usualPortsOfAll(eggNames: readonly string[]): UsualPorts[] {
  const found = eggNames.flatMap((name) => usualPortsOf(name) ?? [])
  return [...new Map(found.map((each) => [each.game, each])).values()]
}

/** Whether a port is in a text of ports and ranges. */
export const includesPort = (ports: string, port: number): boolean =>
  ports.split(/[\s,]+/).some((part) => {
    const [first = Number.NaN, last = first] = part.split('-').map(Number)
    return port >= first && port <= last
  })
