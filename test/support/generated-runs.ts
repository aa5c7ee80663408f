/**
 * How many generated cases a property is tried with: few locally, all of them in `npm run test:all` and
 * CI. `FAST_CHECK_RUNS` names another number.
 */
export const generatedRuns = ({ few, all }: { few: number; all: number }): number =>
  Number(process.env.FAST_CHECK_RUNS ?? (process.env.TEST_DEPTH === 'full' ? all : few))

/**
 * The seed of the generated cases: the same on every machine, so that a failure is never a matter of luck.
 * `FAST_CHECK_SEED` names another one, or `random`.
 */
export function generatedSeed(): { seed?: number; path?: string } {
  const { FAST_CHECK_SEED: seed = '18820374', FAST_CHECK_PATH: path } = process.env
  return { ...(seed === 'random' ? {} : { seed: Number(seed) }), ...(path ? { path } : {}) }
}
