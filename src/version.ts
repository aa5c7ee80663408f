/** The version of this panel, as in package.json; a constant, so that no function bundles the manifest. */
export const version = '0.1.0'
