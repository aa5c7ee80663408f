import type { Report } from './command.ts'
import type { Fault } from './faults.ts'

/** Prints the output of a verb on standard output, as text or as one JSON document. */
export function printReport({ text, json, onStandardError }: Report, isJson: boolean): void {
  const print = onStandardError ? console.error : console.log
  print(isJson ? JSON.stringify(json, null, 2) : text)
}

/** Prints a failure on standard error, field by field; or as one JSON document on standard output. */
export function printFault(fault: Fault, isJson: boolean): void {
  if (isJson) {
    console.log(JSON.stringify(fault, null, 2))
    return
  }
  console.error(fault.error)
  for (const { file, field, problem } of fault.issues ?? []) {
    console.error(`  ${[file, field].filter(Boolean).join(': ')}: ${problem}`)
  }
}
