import { setTimeout as wait } from 'node:timers/promises'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { HttpBindings } from '@hono/node-server'
import type { MiddlewareHandler } from 'hono'

/**
 * A deliberate misbehaviour. `route` is `METHOD /path`, where `*` stands for any method or one path segment:
 * a path under /api/remote matches the daemon's own calls to the panel, any other the daemon's HTTP API.
 * `delay` waits first (both directions), `fail` answers without processing, `duplicate` repeats a successful
 * callback. `drop` processes and then cuts the connection; for a call the panel's response is lost. `hang`
 * processes nothing and never answers: a call is not made and its caller waits until the daemon is closed, as if
 * the daemon had died there.
 * `times` counts down to 0, after which the fault no longer applies; without it the fault always applies.
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

/** Finds the first fault with one of the effects that applies to this request, and counts down its `times`. */
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

/** Creates the middleware that applies faults to the daemon's own routes. */
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
