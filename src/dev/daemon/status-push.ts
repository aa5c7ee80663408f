import type { Daemon, Profile } from './daemon.ts'
import type { GameServer, PowerState } from './game-server.ts'
import { describeError } from './panel-client.ts'

/** Releases that push changes of state. */
const pushingProfiles: readonly Profile[] = ['1.12', 'pelican']

const pending = new WeakMap<GameServer, Promise<void>>()

/**
 * Pushes a change of state to the panel, after those before it; a failure is only logged. Wings: POST
 * /api/remote/servers/{uuid}/container/status
 */
export function pushState(daemon: Daemon, server: GameServer, previous: PowerState, state: PowerState): void {
  if (!pushingProfiles.includes(daemon.settings.profile) || server.deleted || daemon.closing) return
  const push = () =>
    daemon.panel
      .post(`/servers/${server.uuid}/container/status`, {
        data: { previous_state: previous, new_state: state },
      })
      .catch((error: unknown) =>
        daemon.log(`${server.uuid}: the panel refused the state ${state}: ${describeError(error)}`),
      )
  pending.set(server, (pending.get(server) ?? Promise.resolve()).then(push))
}
