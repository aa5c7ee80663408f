import type { Router } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
import { TrieRouter } from 'hono/router/trie-router'
import type { H, RouterRoute } from 'hono/types'
import { isDeclaration } from './metadata.ts'

type Entry = [H, RouterRoute]

/** Returns the router of an app that leaves out middleware which only declares metadata: it would take a turn in each request. */
export function effectiveRouter(): Router<Entry> {
  const router = new SmartRouter<Entry>({ routers: [new RegExpRouter(), new TrieRouter()] })
  return {
    name: 'effective',
    add: (method, path, entry) => {
      if (!isDeclaration(entry[0])) router.add(method, path, entry)
    },
    match: (method, path) => router.match(method, path),
  }
}
