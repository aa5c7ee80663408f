import { matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testFiles, tierOf, tierPatterns } from '../tiers.ts'

describe('the tiers of the tests', () => {
  it('have every test file', () => {
    expect(testFiles.length).toBeGreaterThan(200)
    expect(testFiles.filter((file) => tierOf(file) === null)).toEqual([])
  })

  it('name no file that is not there', () => {
    expect(tierPatterns.filter((pattern) => !testFiles.some((file) => matchesGlob(file, pattern)))).toEqual(
      [],
    )
  })
})
