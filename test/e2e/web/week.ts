import type { Chromium } from '../../support/chromium.ts'
import type { addNode, PanelProcess } from '../../support/panel-process.ts'
import type { RunningProcess } from '../../support/processes.ts'
import type { EggRepository } from './egg-repository.ts'
import type { PageDriver } from './page-driver.ts'
import type { Account } from './player.ts'

/** Where the week takes place: it has a node with a daemon of its own. */
export type Place = {
  panel: PanelProcess
  chromium: Chromium
  eggs: EggRepository
  spare: Awaited<ReturnType<typeof addNode>>
  spareDaemon: RunningProcess
  /** Lets the day pass after which jobs are abandoned. */
  expireJobs: () => Promise<void>
  sitDown: (account: Account) => Promise<PageDriver>
}

/** What a week of a host is about; one that is tried again has other names. */
export type Week = {
  place: Place
  driver: PageDriver
  tag: string
  egg: string
  customer: Account
  customerId: number
}

/** Returns the name of one of the ten servers. */
export const serverName = ({ tag }: Week, number: number) => `Realm ${tag} ${String(number).padStart(2, '0')}`
/** Returns the address of the list of the ten servers. */
export const listOf = ({ tag }: Week, more = '') =>
  `/admin/servers?q=${encodeURIComponent(`Realm ${tag}`)}&sort=name${more}`

/** Finds a resource in a field by its name, and chooses it. */
export async function pick({ page }: PageDriver, field: string, text: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).fill(text)
  await page.getByRole('option').filter({ hasText: text }).first().click()
}

/** Finds a server in the list, and opens a part of it. */
export async function openServer(week: Week, number: number, part: string): Promise<void> {
  const { page, heading } = week.driver
  await page.goto(listOf(week))
  await page.getByRole('link', { name: serverName(week, number), exact: true }).click()
  await heading(serverName(week, number)).waitFor()
  const parts = page.getByRole('navigation', { name: 'Parts of the server' })
  await parts.getByRole('link', { name: part }).click()
}
