import { expect, it } from 'vitest'
import { resetWorld } from '../support/reset.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()

it('a reset leaves nothing in the cache, the object store, the queue and the mail', async () => {
  await world.services.cache.set('left', 1, 60)
  world.messages.push({ id: 'left', delay: 0 })
  world.clock.advance(86_400)
  const { inFlight, circuitBreakers, metrics } = world.services
  await resetWorld(world)
  expect(await world.services.cache.get('left')).toBe(null)
  expect(world.messages).toEqual([])
  expect(world.objects.keys()).toEqual([])
  expect(world.clock.now.getTime()).toBeLessThanOrEqual(Date.now())
  expect(world.services.inFlight).not.toBe(inFlight)
  expect(world.services.circuitBreakers).not.toBe(circuitBreakers)
  expect(world.services.metrics).not.toBe(metrics)
})

it('a reset takes away the services that only one test gave to the panel', async () => {
  Object.assign(world.services, { moveIn: {} })
  await resetWorld(world)
  expect(world.services).not.toHaveProperty('moveIn')
})
