import { Play, Square, Star } from 'lucide-react'
import { useTranslation } from '../app/use-translation.ts'
import { usePlacement } from '../api/server-list.ts'
import { IconButton } from '../components/button.tsx'
import { signalPermissions, usePower } from '../server/power.tsx'
import { isBlocked } from '../server/server-state.ts'
import { can, type ListedServer } from './listed-server.ts'
import { ServerMenu } from './server-menu.tsx'

/** What a row or card offers without opening the server: favourite, start or stop, and the menu. */
export function RowActions({ listed }: { listed: ListedServer }) {
  const power = usePower(listed.server.identifier)
  return (
    <div className="relative flex items-center justify-end gap-0.5">
      <FavouriteButton listed={listed} />
      <PowerButton listed={listed} power={power} />
      <ServerMenu listed={listed} power={power} />
    </div>
  )
}

type PowerProps = { listed: ListedServer; power: ReturnType<typeof usePower> }

/** Starts a server that is off, and stops one that runs. Empty where the user may not or cannot. */
function PowerButton({ listed: { server, state, outage }, power }: PowerProps) {
  const { t } = useTranslation('home')
  const signal = state === 'offline' ? 'start' : 'stop'
  // Its place stays, so that the buttons of all rows stand below each other.
  if (isBlocked(server) || !can(server, signalPermissions[signal])) return <span className="size-9" />
  const isAble = outage === null && state !== null && state !== 'stopping'
  return (
    <IconButton
      icon={signal === 'start' ? Play : Square}
      label={t(`power.${signal}`, { server: server.name })}
      busy={power.isPending}
      disabled={!isAble}
      // An empty square would look like a box to tick.
      className={signal === 'start' ? 'text-good!' : '[&>svg]:fill-current'}
      onClick={() => power.mutate(signal)}
    />
  )
}

function FavouriteButton({ listed: { server } }: { listed: ListedServer }) {
  const { t } = useTranslation('home')
  const placement = usePlacement()
  const isMarked = server.is_favourite
  return (
    <IconButton
      icon={Star}
      label={t('place.favourite', { server: server.name })}
      aria-pressed={isMarked}
      className={isMarked ? 'text-warn! [&>svg]:fill-current' : 'text-muted!'}
      onClick={() => placement.mutate({ servers: [server.identifier], favourite: !isMarked })}
    />
  )
}
