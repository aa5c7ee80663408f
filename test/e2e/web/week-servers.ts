import { listOf, openServer, pick, serverName, type Week } from './week.ts'

/** Suspends the ten servers together and lifts it again; what failed meanwhile is tried again. */
export async function actOnTen(week: Week): Promise<void> {
  const { page, button, heading, confirmation, choose } = week.driver
  const check = (number: number) => page.getByRole('checkbox', { name: `Choose ${serverName(week, number)}` })
  const chosen = page.getByRole('region', { name: 'Chosen rows' })
  const act = async (action: string) => {
    await choose('Actions', action)
    await confirmation(`${action}: 10 servers`).getByRole('button', { name: action }).click()
    await heading(action).waitFor()
    await page.getByText('10 of 10 servers').waitFor()
  }
  await page.goto(listOf(week))
  await check(1).click()
  await check(3).click({ modifiers: ['Shift'] })
  await chosen.getByText('3 chosen').waitFor()
  await check(3).press('ArrowDown')
  await page.keyboard.press('Space')
  await chosen.getByText('4 chosen').waitFor()
  await chosen.getByRole('button', { name: 'Choose all 10 that match' }).click()
  await chosen.getByText('10 chosen').waitFor()
  await act('Suspend')

  await page.goto(listOf(week, '&status=suspended'))
  await page.getByText('10 in total.').waitFor()
  await page.getByRole('checkbox', { name: 'Choose this page' }).check()
  await act('Start')
  await page.getByText('The server is suspended.').first().waitFor()
  await button('Try the failed ones again (10)').click()
  await page.getByText('10 of 10 servers').waitFor()
  await page.goto(listOf(week))
  await page.getByRole('checkbox', { name: 'Choose this page' }).check()
  await act('Lift suspension')
  await page.getByRole('link', { name: 'Bulk actions' }).click()
  await page.getByRole('row').filter({ hasText: 'Lift suspension' }).first().waitFor()
}

/** Moves one server to another node, and cancels the move of a second one. */
export async function moveServers(week: Week): Promise<void> {
  const { page, button, confirmation } = week.driver
  const start = async (number: number, node: string) => {
    await openServer(week, number, 'Transfer')
    await pick(week.driver, 'Node', node)
    await page.getByRole('combobox', { name: 'Allocation' }).click()
    await page.getByRole('option', { name: /:257/ }).first().click()
    await button('Start transfer').click()
  }
  await start(1, 'Spare')
  await page.getByText('Complete', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Spare' }).waitFor()
  await start(2, 'Mute')
  await button('Cancel transfer').click()
  await confirmation('Cancel transfer').getByRole('button', { name: 'Cancel transfer' }).click()
  await page.getByText('Failed', { exact: true }).waitFor()
  await button('Start transfer').waitFor()
}

/** A node dies, and with it a job; both are found, explained and put right. */
export async function outliveNode(week: Week): Promise<void> {
  const { page, button, confirmation, toast } = week.driver
  const { panel, spare } = week.place
  await week.place.spareDaemon.stop()
  await openServer(week, 1, 'Manage')
  await button('Suspend').click()
  await confirmation('Suspend').getByRole('button', { name: 'Suspend' }).click()
  await button('Lift suspension').waitFor()
  await week.place.expireJobs()

  await panel.asAdmin('POST', `/nodes/${spare.id}/heartbeat`)
  await page.goto('/admin')
  await page.getByRole('link', { name: 'Nodes that are down' }).waitFor()
  await page.goto(`/admin/nodes/${spare.id}/doctor`)
  await page.getByText(/^Nothing listens on port \d+\.$/).waitFor()
  await page.getByText('This browser does not reach the node.').waitFor()
  await page.getByText(/systemctl status wings/).waitFor()

  const jobs = '/admin/jobs?q=sync-server&columns=state,id,error'
  await page.goto(`${jobs}&state=dead`)
  const dead = page.getByRole('row').filter({ hasText: 'Abandoned' }).first()
  const job = await dead.getByText(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/).innerText()
  week.place.spareDaemon = await panel.startDaemon(spare.id)
  await panel.asAdmin('POST', `/nodes/${spare.id}/heartbeat`)
  await dead.getByRole('button', { name: 'Try again now' }).click()
  await toast('The job runs again.').waitFor()
  await page.goto(`${jobs}&state=done`)
  await page.getByRole('row').filter({ hasText: job }).waitFor()
  await openServer(week, 1, 'Manage')
  await button('Lift suspension').click()
  await button('Suspend').waitFor()
}
