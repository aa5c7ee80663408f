import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that take minutes, by their path from `test/`. */
const longest = [
  'e2e/web/screens',
  'e2e/web/journey',
  'e2e/web/admin-first-run',
  'e2e/platforms/lambda',
  'e2e/platforms/workers',
  'e2e/platforms/node',
  'e2e/web/recovery',
].map((path) => `/test/${path}.test.ts`)

const rank = ({ moduleId }: TestSpecification) => longest.findIndex((path) => moduleId.endsWith(path))

/** Starts the files of a tier that take longest first, so that none is left to run alone at its end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const first = sorted.filter((file) => rank(file) >= 0).toSorted((a, b) => rank(a) - rank(b))
    return [...first, ...sorted.filter((file) => rank(file) < 0)]
  }
}
