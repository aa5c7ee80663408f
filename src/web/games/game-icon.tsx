/** Drawings of games by what they are about, in a square of 24: our own, so that no trademark is shown. */
const drawings = {
  blocks: 'M12 3 20 7.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9M8 5.25l8 4.5',
  tree: 'M12 21v-7M12 17l3-2.5M12 3a4.5 4.5 0 0 1 4.3 5.8A3.8 3.8 0 0 1 15 16H9a3.8 3.8 0 0 1-1.3-7.2A4.5 4.5 0 0 1 12 3z',
  gear: 'M12 8.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M5.6 18.4l2.2-2.2M16.2 7.8l2.2-2.2',
  ship: 'M3 15h18c-1.5 4-4 5-9 5s-7.5-1-9-5zM12 15V3M12 4c4 1 6 4 6 8h-6M12 5c-3.5 1-5 4-5 7h5',
  hammer: 'M5 9c1.5-3.5 4.5-5 9-5l3 3-2.5 3.5-3-2L5 9zM11 9l-7 9.5 2 1.5 7-9M17 7l2.5-1.5L21 8l-2.5 2',
  target: 'M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM12 2v6M12 16v6M2 12h6M16 12h6',
  claws: 'M7 3c.5 5-.5 11-3 16M12 3c.5 6 0 12-2 18M17 3c1 6 1 11 0 16M21 5c.5 4 .5 7 0 10',
  voice: 'M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM5.5 11a6.5 6.5 0 0 0 13 0M12 17.5V21M9 21h6',
  wheel:
    'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM3.5 10.5l6 .8M20.5 10.5l-6 .8M12 14.5V21',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16',
  network: 'M9 3h6v5H9zM3 16h6v5H3zM15 16h6v5h-6zM12 8v4M6 16v-4h12v4',
  pad: 'M8 8h8a5 5 0 0 1 5 5.5c0 3-1 4.5-2.5 4.5S16 16 14.5 16h-5C8 16 7 18 5.5 18S3 16.5 3 13.5A5 5 0 0 1 8 8zM8 10.5v3M6.5 12h3M15.5 11v.01M17.5 13v.01',
}

type Drawing = keyof typeof drawings

/** What the name of an egg, or of its game in gamedig, says about the game; the first that fits counts. */
const subjects: readonly (readonly [RegExp, Drawing])[] = [
  [/\b(velocity|waterfall|bungee\w*|proxy)\b/i, 'network'],
  [
    /minecraft|bedrock|\b(mbe|paper|spigot|purpur|fabric|(neo)?forge|quilt|vanilla|minetest|luanti)\b/i,
    'blocks',
  ],
  [/terraria|tshock|starbound|core ?keeper|don.t starve/i, 'tree'],
  [/factorio|satisfactory|space engineers|astroneer|openttd/i, 'gear'],
  [/valheim|sea of|raft\b/i, 'ship'],
  [/\brust\b|conan|7 days|unturned|zomboid|\bdayz\b|\bv rising\b/i, 'hammer'],
  [
    /counter.?strike|\bcs ?2\b|\bcs:?go\b|\btf2\b|team ?fortress|left 4|\bl4d2\b|arma|squad|insurgency|garry|quake|xonotic/i,
    'target',
  ],
  [/\b(ark|ase)\b|the isle|palworld/i, 'claws'],
  [/teamspeak|\bts3\b|mumble|murmur|voice/i, 'voice'],
  [/assetto|beammp|fivem|\bgta\b|truck|trackmania|rfactor/i, 'wheel'],
  [/node(\.?js)?\b|python|\bjava\b|golang|\bbot\b|\bbun\b|\bdeno\b|demo|generic/i, 'code'],
]

const drawingOf = (name: string): Drawing => subjects.find(([pattern]) => pattern.test(name))?.[1] ?? 'pad'

/** The names of all drawings. */
export const drawingNames = Object.keys(drawings) as Drawing[]

type IconProps = {
  /** Of the egg and its game. */
  name: string
  /** The drawing that the egg names. */
  icon?: string | null
  className?: string
}

/** A picture of what an egg's game is about: the one that it names, or else by its name. */
export const GameIcon = ({ name, icon, className = 'size-5' }: IconProps) => (
  <svg
    aria-hidden
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.6"
    strokeLinecap="round"
    strokeLinejoin="round"
    className={`shrink-0 ${className}`}
  >
    <path d={drawings[drawingNames.find((drawing) => drawing === icon) ?? drawingOf(name)]} />
  </svg>
)

/** The same in a square of its own, as the picture of a server. */
export const GameTile = ({ name, icon, className = 'size-9' }: IconProps) => (
  <span
    aria-hidden
    className={`grid shrink-0 place-items-center rounded-control bg-brand-soft text-brand-text ${className}`}
  >
    <GameIcon name={name} icon={icon ?? null} className="size-3/5" />
  </span>
)
