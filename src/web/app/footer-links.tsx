import { site } from './site.ts'

/** The links of the settings at the foot of a page. */
export const FooterLinks = () =>
  site.links.length > 0 && (
    <footer className="flex flex-wrap justify-center gap-x-4 gap-y-1 p-4 text-sm text-muted">
      {site.links.map(({ label, url }) => (
        <a key={url + label} href={url} rel="noopener" className="hover:text-ink hover:underline">
          {label}
        </a>
      ))}
    </footer>
  )
