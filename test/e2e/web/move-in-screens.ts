import type { Page } from 'playwright-core'
import type { Screen } from './screens.ts'

const api = '**/api/application/move-in'

const nothing = {
  stage: null,
  can_start: false,
  file: null,
  kind: null,
  timezone: null,
  first_timezone: null,
  dump_timezone: null,
  ignore_columns: [],
  started_by: null,
  expires_at: null,
  is_cancelling: false,
  progress: null,
  report: null,
  differences: null,
  fault: null,
  other_machine: null,
  has_moved: false,
  max_bytes: 16 * 1024 ** 3,
  free_bytes: 87 * 1024 ** 3,
}

const uploaded = {
  ...nothing,
  stage: 'uploaded',
  file: { name: 'panel-2026-11-27.sql.gz', size: 218_103_808 },
  started_by: 'admin',
  expires_at: new Date(Date.now() + 23 * 3_600_000).toISOString().replace(/\.\d+Z/, '+00:00'),
}

const table = (name: string, found: number, movable: number, written: number | null = null) => ({
  table: name,
  found,
  movable,
  written,
})

const report = (isWritten: boolean) => ({
  version: 'Pterodactyl 1.11 or 1.12',
  tables: [
    ['users', 1204, 1204],
    ['api_keys', 391, 388],
    ['nodes', 14, 14],
    ['allocations', 21_400, 21_400],
    ['eggs', 96, 96],
    ['servers', 2310, 2308],
    ['schedules', 801, 801],
    ['backups', 12_044, 11_980],
    ['mounts', 0, 0],
  ].map(([name, found, movable]) =>
    table(String(name), Number(found), Number(movable), isWritten ? Number(movable) : null),
  ),
  findings: [
    {
      table: 'users',
      what: 'changed',
      reason: 'the row of this panel with its id gets another id',
      count: 1,
      ids: [1],
    },
    {
      table: 'servers',
      what: 'left out',
      reason: 'has no allocation of its own',
      count: 2,
      ids: [441, 1290],
    },
    {
      table: 'backups',
      what: 'left out',
      reason: 'was not completed',
      count: 64,
      ids: Array.from({ length: 20 }, (_, at) => 5100 + at * 7),
    },
  ],
  removed: {},
  unknown_tables: ['store_categories', 'store_orders'],
  ignored: [],
  notes: [],
  seconds: 41.2,
})

const refused = {
  table: 'users',
  what: 'refused',
  reason: 'the column totp_secret has another key than APP_KEY and APP_PREVIOUS_KEYS',
  count: 212,
  ids: Array.from({ length: 20 }, (_, at) => 3 + at * 5),
}

const known = { ...uploaded, kind: 'pterodactyl', timezone: 'Europe/Berlin' }
const checked = { ...known, stage: 'checked', can_start: true, report: report(false) }

/** Shows the page with what the panel would tell in a state that takes other programs. */
const showing = (attributes: object, text: string | RegExp) => async (page: Page) => {
  await page.unroute(api)
  await page.route(api, (route) => route.fulfill({ json: { object: 'move_in', attributes } }))
  await page.reload()
  await page.locator('#app').getByText(text).filter({ visible: true }).first().waitFor()
}

async function showUnavailable(page: Page): Promise<void> {
  const refusal = {
    code: 'NotFoundHttpException',
    status: '404',
    detail: '',
    meta: { reason: 'move_in_needs_node' },
  }
  await page.unroute(api)
  await page.route(api, (route) => route.fulfill({ status: 404, json: { errors: [refusal] } }))
  await page.reload()
  await page.getByText('Only on the command line here').waitFor()
}

const screen = (name: string, attributes: object, text: string | RegExp): Screen => ({
  name: `admin-move-in-${name}`,
  path: '/admin/move-in',
  shows: 'Move in',
  act: showing(attributes, text),
})

/** The page on which another panel moves in, in all of its states. */
export const moveInScreens: Screen[] = [
  { name: 'admin-move-in', path: '/admin/move-in', shows: 'Upload a dump' },
  screen('uploading', { ...uploaded, stage: 'uploading', expires_at: null }, /is uploading/),
  screen('uploaded', uploaded, 'The old panel'),
  screen(
    'uploaded-again',
    { ...uploaded, timezone: 'Asia/Tokyo', first_timezone: 'Europe/Berlin', has_moved: true },
    /Replace Europe\/Berlin/,
  ),
  screen('checking', { ...known, stage: 'checking' }, 'Checking every row'),
  screen('checked', checked, 'Nothing forbids the move.'),
  screen(
    'refused',
    {
      ...checked,
      can_start: false,
      report: { ...report(false), findings: [refused, ...report(false).findings] },
    },
    'Reasons that forbid the move: 1',
  ),
  screen(
    'fault',
    {
      ...known,
      fault: {
        error: 'The dump is cut off at line 20412, in the rows of allocations. Make it again.',
        issues: [],
      },
    },
    'The dump could not be checked',
  ),
  screen(
    'moving',
    {
      ...checked,
      stage: 'moving',
      can_start: false,
      progress: {
        phase: 'nodes, allocations',
        rows: 17_220,
        total: 38_260,
        rows_per_second: 1840,
        seconds_left: 12,
      },
    },
    /17,220 of 38,260/,
  ),
  screen(
    'done',
    { ...known, stage: 'done', expires_at: null, report: report(true), differences: [], has_moved: true },
    'Everything that can move is here',
  ),
  screen(
    'differs',
    {
      ...known,
      stage: 'done',
      report: report(true),
      differences: [{ table: 'servers', id: 41, columns: ['name', 'memory'] }],
    },
    'Rows that differ from the old ones: 1',
  ),
  screen('interrupted', { ...nothing, stage: 'interrupted', has_moved: true }, /was stopped during/),
  { name: 'admin-move-in-unavailable', path: '/admin/move-in', shows: 'Move in', act: showUnavailable },
]
