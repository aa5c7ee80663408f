import type { Reporter } from 'vitest/node'

type Tally = { files: number; tests: number; startedAt: number; endedAt: number }

/** Characters of an error that are printed. */
const maxCauseLength = 3000

/**
 * Prints at the end how many files and tests each project had, the seconds from its first file to its last, and the
 * tests that passed only at a second try, with why the first one failed.
 */
export function tierReporter(): Reporter {
  const tallies = new Map<string, Tally>()
  const flaky: string[] = []
  return {
    onTestCaseResult: (test) => {
      if (test.diagnostic()?.flaky !== true) return
      const causes = (test.result().errors ?? []).map(({ message, stack, diff }) =>
        [message, diff, stack].filter(Boolean).join('\n').slice(0, maxCauseLength),
      )
      flaky.push([`${test.module.relativeModuleId}: ${test.fullName}`, ...causes].join('\n'))
    },
    onTestModuleQueued: ({ project }) => {
      if (tallies.has(project.name)) return
      tallies.set(project.name, { files: 0, tests: 0, startedAt: Date.now(), endedAt: 0 })
    },
    onTestModuleEnd: (module) => {
      const tally = tallies.get(module.project.name)
      if (!tally) return
      tally.files += 1
      tally.tests += [...module.children.allTests()].length
      tally.endedAt = Date.now()
    },
    onTestRunEnd: () => {
      for (const [name, { files, tests, startedAt, endedAt }] of tallies) {
        const seconds = ((endedAt - startedAt) / 1000).toFixed(1)
        console.log(
          `${name.padEnd(14)}${String(files).padStart(4)} files ${String(tests).padStart(5)} tests ${seconds.padStart(7)} s`,
        )
      }
      for (const name of flaky) console.log(`passed only at the second try: ${name}`)
    },
  }
}
