import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

/** Parses the options of a program. Prints the usage and exits with 0 for `--help`, and with 2 for unknown arguments. */
export function readOptions<Options extends ParseArgsOptionsConfig>(usage: string, options: Options) {
  if (process.argv.includes('--help')) {
    console.log(usage)
    process.exit(0)
  }
  try {
    return parseArgs({ options }).values
  } catch (error) {
    return exitWithUsage(usage, error instanceof Error ? error.message : undefined)
  }
}

/** Prints a reason and the usage, and exits with 2. */
export function exitWithUsage(usage: string, reason?: string): never {
  console.error([...(reason === undefined ? [] : [reason, '']), usage].join('\n'))
  process.exit(2)
}
