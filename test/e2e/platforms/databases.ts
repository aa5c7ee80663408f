import { describe, expect, it } from 'vitest'
import { asMysqlUser, hostedNames, mysqlAdmin } from '../../support/mysql.ts'
import { expectStatus, type Fixtures } from './fixtures.ts'

/** Defines the tests of databases on a real MariaDB. */
export function databasesOn(at: () => Fixtures): void {
  describe('a database of a server', () => {
    it('is made, used, given another password and dropped', async () => {
      const { asAdmin, asOwner, server, node } = at()
      const { host, port, username, password } = mysqlAdmin
      const json = { name: 'MariaDB', host, port, username, password, node_id: node.id }
      expectStatus(await asAdmin('POST', '/database-hosts', { json }), 201)
      const made = await asOwner('POST', '/databases', { json: { database: 'web', remote: '%' } })
      const { attributes } = expectStatus(made, 200)
      expect(attributes.name).toBe(`s${server.id}_web`)
      const passwordOf = (item: any): string => item.relationships.password.attributes.password
      const use = (secret: string) =>
        asMysqlUser(attributes.username, secret, 'select database() as name', attributes.name)
      expect(await use(passwordOf(attributes))).toEqual([{ name: attributes.name }])
      const rotated = expectStatus(await asOwner('POST', `/databases/${attributes.id}/rotate-password`), 200)
      await expect(use(passwordOf(attributes))).rejects.toThrow('Access denied')
      expect(await use(passwordOf(rotated.attributes))).toEqual([{ name: attributes.name }])
      expectStatus(await asOwner('DELETE', `/databases/${attributes.id}`), 204)
      expect(await hostedNames(server.id)).toEqual([])
    })
  })
}
