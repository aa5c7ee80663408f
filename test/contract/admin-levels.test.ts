import { describe, expect, it } from 'vitest'
import { aclResources } from '../../src/db/tables/api-keys.ts'
import { levelResources } from '../../src/web/admin/level-resources.ts'

describe('the levels that the web application shows', () => {
  it('are those of the API', () => {
    expect([...levelResources].toSorted()).toEqual([...aclResources].toSorted())
  })
})
