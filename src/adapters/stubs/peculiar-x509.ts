/**
 * Replaces `@peculiar/x509` in bundles, with which the library of passkeys verifies certificate chains: the panel refuses
 * attestations with certificates before it calls the library.
 */
class NotBundled {
  constructor() {
    throw new Error('Certificate chains are not supported.')
  }
}

export {
  NotBundled as AuthorityKeyIdentifierExtension,
  NotBundled as CRLDistributionPointsExtension,
  NotBundled as SubjectKeyIdentifierExtension,
  NotBundled as X509Certificate,
  NotBundled as X509ChainBuilder,
  NotBundled as X509Crl,
}
