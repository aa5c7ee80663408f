/**
 * Stands in bundles for `@peculiar/x509`, by which the library of passkeys follows chains of certificates: the panel
 * refuses passkeys that come with one before it asks the library.
 */
class Uncarried {
  constructor() {
    throw new Error('Chains of certificates are not looked at.')
  }
}

export {
  Uncarried as AuthorityKeyIdentifierExtension,
  Uncarried as CRLDistributionPointsExtension,
  Uncarried as SubjectKeyIdentifierExtension,
  Uncarried as X509Certificate,
  Uncarried as X509ChainBuilder,
  Uncarried as X509Crl,
}
