import { Hono } from 'hono'
import { accepts } from 'hono/accepts'
import type { Context } from 'hono'
import {
  exportPanelActivity,
  panelActivityColumn,
  panelActivityFilters,
  PanelActivityQuery,
  toPanelActivity,
} from '../../domain/activity/panel-activity.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { readQuery } from '../../http/input.ts'
import { listing, listingReader } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { returns, summary } from '../../http/route.ts'
import type { Panel } from '../../panel.ts'
import { exportResponse } from './activity-export.ts'
import { acl, reads } from './middleware.ts'
import { type ExportFormat, PanelActivityPage, PanelActivityResource } from './resources/activity-log.ts'

const listOptions = {
  filters: panelActivityFilters,
  sorts: ['timestamp'],
  perPage: 50,
  maxPerPage: 100,
  schema: PanelActivityQuery,
}

const readRequest = listingReader(listOptions)

const exportTypes = { 'application/x-ndjson': 'ndjson', 'text/csv': 'csv' } as const

/** The audit log: an extension of the ecosystem's API. Spec: docs/activity.md#feed-of-administrators. */
export const activity = new Hono<HttpEnv>().get(
  '/',
  summary('List or export the activity of the panel'),
  acl('activity', 'read'),
  listing(listOptions),
  reads(async (c) => {
    const query = await readQuery(c)
    const isExport = requestedFormat(c, query.format) !== null
    return panelActivityColumn(c.var.panel as Panel, readRequest(query), isExport)
  }),
  returns(200, PanelActivityPage, Object.keys(exportTypes)),
  async (c) => {
    const { panel, data } = c.var
    const request = c.req.valid('query')
    const { format: named, cursor } = await readQuery(c)
    const format = requestedFormat(c, named)
    if (format !== null) {
      const parts = exportPanelActivity(panel, request, typeof cursor === 'string' ? cursor : null)
      return exportResponse(c, format, parts)
    }
    const feed = toPanelActivity(data, request)
    const page = PanelActivityResource.page(feed, publicUrl(c))
    return c.json({ ...page, meta: { ...page.meta, available_events: feed.events } })
  },
)

/** Returns the format that the query names, or else `Accept`; null is a page. */
function requestedFormat(c: Context, named: unknown): ExportFormat | null {
  if (typeof named === 'string') return named === 'json' ? null : (named as ExportFormat)
  const type = accepts(c, {
    header: 'Accept',
    supports: ['application/json', ...Object.keys(exportTypes)],
    default: 'application/json',
  })
  return Object.hasOwn(exportTypes, type) ? exportTypes[type as keyof typeof exportTypes] : null
}
