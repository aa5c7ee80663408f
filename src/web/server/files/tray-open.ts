let isOpen = false
const subscribers = new Set<() => void>()

/** Shows the transfer tray below every page. */
export function openTray(): void {
  if (isOpen) return
  isOpen = true
  for (const subscriber of subscribers) subscriber()
}

/** Whether there has been a transfer since the page was loaded, as an external store. */
export const trayOpen = {
  getSnapshot: (): boolean => isOpen,
  subscribe: (subscriber: () => void): (() => void) => {
    subscribers.add(subscriber)
    return () => subscribers.delete(subscriber)
  },
}
