import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

/** The options of a program's command line. `--help` prints the usage and ends it; so do words it does not know, with exit code 2. */
export function readOptions<Options extends ParseArgsOptionsConfig>(usage: string, options: Options) {
  if (process.argv.includes('--help')) {
    console.log(usage)
    process.exit(0)
  }
  try {
    return parseArgs({ options }).values
  } catch (error) {
    return refuseWords(usage, error instanceof Error ? error.message : undefined)
  }
}

/** Ends the program with its usage and exit code 2. */
export function refuseWords(usage: string, reason?: string): never {
  console.error([...(reason === undefined ? [] : [reason, '']), usage].join('\n'))
  process.exit(2)
}
