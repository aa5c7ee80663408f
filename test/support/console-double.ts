import type { Page } from 'playwright-core'

/** What a double of the daemon's socket can do; it stands at `window.consoleDouble` of its page. */
type ConsoleDouble = {
  say: (event: string, ...args: string[]) => void
  sent: string[]
}
type DoubledWindow = Window & { consoleDouble: ConsoleDouble }

/** Puts a double in place of the WebSocket of every page that is opened afterwards: it says what a test lets it say. */
export async function doubleConsole(page: Page): Promise<void> {
  // The panel gives out few tokens a minute.
  await page.route('**/api/client/servers/*/websocket', (route) =>
    route.fulfill({ json: { data: { token: 'token', socket: 'wss://node.example/ws' } } }),
  )
  await page.addInitScript(() => {
    const sockets = new Set<EventTarget>()
    const say = (event: string, ...args: string[]) => {
      const data = JSON.stringify({ event, args })
      for (const socket of sockets) socket.dispatchEvent(new MessageEvent('message', { data }))
    }
    const sent: string[] = []
    class Double extends EventTarget {
      constructor() {
        super()
        sockets.add(this)
        setTimeout(() => this.dispatchEvent(new Event('open')))
      }
      send(text: string) {
        sent.push(text)
        const { event } = JSON.parse(text) as { event: string }
        if (event !== 'auth') return
        say('auth success')
        say('status', 'running')
      }
      close() {
        sockets.delete(this)
      }
    }
    Object.assign(window, { WebSocket: Double, consoleDouble: { say, sent } })
  })
}

/** Lets the double print lines. */
export const printLines = (page: Page, lines: readonly string[]): Promise<void> =>
  page.evaluate((texts) => {
    const { say } = (window as unknown as DoubledWindow).consoleDouble
    for (const text of texts) say('console output', text)
  }, lines)

/** Lets the double print lines for some seconds. Returns the frames per second. */
export const printSteadily = (
  page: Page,
  options: { linesPerSecond: number; seconds: number },
): Promise<{ framesPerSecond: number }> =>
  page.evaluate(async ({ linesPerSecond, seconds }) => {
    const { say } = (window as unknown as DoubledWindow).consoleDouble
    const texts = [
      '[12:00:00 INFO]: Steve[/203.0.113.7:51842] logged in with entity id 412 at ([world]12.5, 64.0, -7.5)',
      '[12:00:00 INFO]: Saved plugins/Essentials/userdata/steve.yml',
      '[12:00:00 WARN]: Can’t keep up! Is the server overloaded? Running 2121ms or 42 ticks behind',
      '\u001b[32m[12:00:00 INFO]: \u001b[0mDone, see https://example.com/help',
      '[12:00:00 ERROR]: Could not pass event PlayerJoinEvent to Essentials',
      '\tat net.minecraft.server.Main.main(Main.java:12) ~[server.jar:?]',
    ]
    const total = linesPerSecond * seconds
    const start = performance.now()
    let [frames, count, isRunning] = [0, 0, true]
    const countFrame = () => {
      frames += 1
      if (isRunning) requestAnimationFrame(countFrame)
    }
    requestAnimationFrame(countFrame)
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * linesPerSecond))
        for (; count < due; count += 1) say('console output', `${texts[count % texts.length]} ${count}`)
        if (count < total) return
        clearInterval(timer)
        resolve()
      }, 4)
    })
    say('console output', 'That was the last line.')
    isRunning = false
    const elapsedMs = performance.now() - start
    return { framesPerSecond: (frames / elapsedMs) * 1000 }
  }, options)
