/** A sentence about rows of a table, with the ids of the first of them. */
export type Finding = {
  table: string
  what: 'changed' | 'left out' | 'refused'
  reason: string
  count: number
  /** Empty for what has none, as a line of a `.env`. */
  ids: number[]
}

/** Rows of a table: in the old panel, of them moved by this run, and there already. */
export type TableCount = { table: string; found: number; movable: number }

/** What would come and what cannot, by table. */
export type MoveReport = {
  change: (table: string, id: number, reason: string) => void
  leaveOut: (table: string, id: number, reason: string) => void
  refuse: (table: string, id: number, reason: string) => void
  /** Counts rows that can move. */
  count: (table: string, movable: number) => void
  findings: () => Finding[]
  movable: Map<string, number>
}

const maxIds = 20

/** Opens a report without findings. */
export function openReport(): MoveReport {
  const findings = new Map<string, Finding>()
  const movable = new Map<string, number>()
  const add = (what: Finding['what']) => (table: string, id: number, reason: string) => {
    const key = `${table}/${what}/${reason}`
    const finding = findings.get(key) ?? { table, what, reason, count: 0, ids: [] }
    finding.count += 1
    if (id > 0 && finding.ids.length < maxIds) finding.ids.push(id)
    findings.set(key, finding)
  }
  return {
    change: add('changed'),
    leaveOut: add('left out'),
    refuse: add('refused'),
    count: (table, rows) => void movable.set(table, (movable.get(table) ?? 0) + rows),
    findings: () => [...findings.values()],
    movable,
  }
}
