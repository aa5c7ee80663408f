/** Strings that JSON quotes in different ways, or that take more than a byte for a character. */
export const oddStrings = [
  '',
  'plain',
  '"',
  '\\',
  '\\u0000',
  '\\u0000"',
  '\n',
  '\u007F',
  'ü€😀',
  '\uD800',
  '\u2028',
  '{{a}}',
]
