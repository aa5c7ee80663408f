/** The browser of tests: Debian's package `chromium`, unless TEST_CHROMIUM names another. */
export const chromiumPath = process.env.TEST_CHROMIUM ?? '/usr/bin/chromium'
