import { queryClient } from '../../api/query-client.ts'
import { toast, type ToastAction, toastError } from '../../components/toast.tsx'
import { openTray } from './tray-open.ts'

/** What the tray shows of a task that runs for a server; `size` is null while it is unknown. */
export type Task = {
  id: number
  text: string
  serverName: string
  done: number
  size: number | null
  /** Null while the task cannot be cancelled, because the node works on alone. */
  cancel: (() => void) | null
}

/** Updates what the tray shows of a task. */
export type UpdateTask = (change: Partial<Omit<Task, 'id'>>) => void

let tasks: readonly Task[] = []
let lastId = 0
const subscribers = new Set<() => void>()

function set(next: readonly Task[]): void {
  tasks = next
  for (const subscriber of subscribers) subscriber()
}

/** The running tasks, as an external store. */
export const runningTasks = {
  getSnapshot: (): readonly Task[] => tasks,
  subscribe: (subscriber: () => void): (() => void) => {
    subscribers.add(subscriber)
    return () => subscribers.delete(subscriber)
  },
}

/** A task and what is needed to show it. */
export type TaskRun = {
  server: string
  serverName: string
  text: string
  /** Says what failed when the panel gave no reason. */
  failure: string
  /** Does the work and returns what to say when it is done; null for nothing. */
  run: (update: UpdateTask) => Promise<string | { text: string; action?: ToastAction } | null>
}

/** Runs a task that continues while other pages are open, and says how it ended. */
export async function runTask({ server, serverName, text, failure, run }: TaskRun): Promise<void> {
  lastId += 1
  const id = lastId
  openTray()
  set([...tasks, { id, text, serverName, done: 0, size: null, cancel: null }])
  const update: UpdateTask = (change) =>
    set(tasks.map((task) => (task.id === id ? { ...task, ...change } : task)))
  try {
    const said = await run(update)
    if (typeof said === 'string') toast(said)
    else if (said) toast(said.text, said.action)
  } catch (error) {
    toastError(error, failure)
  } finally {
    set(tasks.filter((task) => task.id !== id))
    await queryClient.invalidateQueries({ queryKey: ['files', server] })
  }
}
