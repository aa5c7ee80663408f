/** The browser of tests: Debian's package `chromium-headless-shell`, which has no windows and takes half the time of `chromium`, unless TEST_CHROMIUM names another. */
export const chromiumPath = process.env.TEST_CHROMIUM ?? '/usr/bin/chromium-headless-shell'
