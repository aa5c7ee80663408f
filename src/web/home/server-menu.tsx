import { EllipsisVertical } from 'lucide-react'
import { lazy, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { IconButton } from '../components/button.tsx'
import { Menu } from '../components/menu.tsx'
import { KillDialog, type usePower } from '../server/power.tsx'
import type { ListedServer } from './listed-server.ts'

const load = () => import('./server-menu-items.tsx')
const ServerMenuItems = lazy(async () => ({ default: (await load()).ServerMenuItems }))

/** Loads the code of the menus, so that the first one opens at once. */
export const preloadServerMenus = () => void load().catch(() => undefined)

/** Menu of a server with what the user may do there; `power` sends what is chosen. */
export function ServerMenu({ listed, power }: { listed: ListedServer; power: ReturnType<typeof usePower> }) {
  const { t } = useTranslation('home')
  const [killing, setKilling] = useState(false)
  const { server } = listed
  const trigger = (
    <IconButton icon={EllipsisVertical} busy={power.isPending} label={t('menu', { server: server.name })} />
  )
  return (
    <>
      <Menu trigger={trigger}>
        <ServerMenuItems
          listed={listed}
          onSignal={(signal) => (signal === 'kill' ? setKilling(true) : power.mutate(signal))}
        />
      </Menu>
      <KillDialog server={server.identifier} open={killing} onOpenChange={setKilling} />
    </>
  )
}
