import { setTimeout as wait } from 'node:timers/promises'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { HttpBindings } from '@hono/node-server'
import type { MiddlewareHandler } from 'hono'

/**
 * A deliberate misbehaviour. `route` is `METHOD /path`, where `*` stands for any method or one path segment:
 * a path under /api/remote matches the daemon's own calls to the panel, any other the daemon's HTTP API.
 * `delay` waits first (both directions), `fail` answers without processing, `duplicate` repeats a successful
 * callback. `drop` processes and then cuts the connection: of a call, the panel's answer is lost. `hang`
 * processes nothing and never answers: a call is not made, and what depends on it stands still as if the daemon
 * had died there, until it is closed.
 * `times` counts down to 0, after which the fault is spent; absent means always.
 */
export type Fault = {
  route: string
  times?: number
} & (
  | { effect: 'delay'; milliseconds: number }
  | { effect: 'fail'; status?: number }
  | { effect: 'drop' }
  | { effect: 'hang' }
  | { effect: 'duplicate' }
)

function matches(fault: Fault, method: string, path: string): boolean {
  const [faultMethod, faultPath = ''] = fault.route.split(' ')
  if (faultMethod !== '*' && faultMethod !== method) return false
  const wanted = faultPath.split('/')
  const given = path.split('/')
  return wanted.length === given.length && wanted.every((part, at) => part === '*' || part === given[at])
}

/** Takes the first unspent fault of the given effects for this request and counts it. */
export function takeFault<E extends Fault['effect']>(
  faults: Fault[],
  effects: readonly E[],
  method: string,
  path: string,
): Extract<Fault, { effect: E }> | undefined {
  const isWanted = (fault: Fault): fault is Extract<Fault, { effect: E }> =>
    effects.some((effect) => effect === fault.effect)
  const fault = faults.find((entry) => isWanted(entry) && entry.times !== 0 && matches(entry, method, path))
  if (!fault || !isWanted(fault)) return undefined
  if (fault.times !== undefined) fault.times -= 1
  return fault
}

/** Applies the faults that are set for the daemon's own routes. */
export function injectFaults(faults: Fault[]): MiddlewareHandler<{ Bindings: HttpBindings }> {
  return async (c, next) => {
    const fault = takeFault(faults, ['delay', 'fail', 'drop', 'hang'], c.req.method, c.req.path)
    if (!fault) return next()
    if (fault.effect === 'fail') {
      return Response.json({ error: 'an injected fault' }, { status: fault.status ?? 500 })
    }
    if (fault.effect === 'hang') {
      const { outgoing } = c.env
      await new Promise<void>((resolve) => outgoing.once('close', resolve))
      return RESPONSE_ALREADY_SENT
    }
    if (fault.effect === 'delay') await wait(fault.milliseconds)
    await next()
    if (fault.effect === 'drop') {
      c.env.outgoing.destroy()
      c.res = RESPONSE_ALREADY_SENT
    }
    return undefined
  }
}
