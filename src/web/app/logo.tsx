import { site } from './site.ts'

/** The logo of the panel: that of its settings, in the theme of the page, or its own. */
export const Logo = () =>
  site.logo ? (
    <>
      <img src={site.logo.light} alt="" className="h-8 max-w-40 in-data-[theme=dark]:hidden" />
      <img src={site.logo.dark} alt="" className="hidden h-8 max-w-40 in-data-[theme=dark]:block" />
    </>
  ) : (
    <OwnLogo />
  )

const OwnLogo = () => (
  <svg aria-hidden viewBox="0 0 24 24" className="size-7 shrink-0 text-brand">
    <rect width="24" height="24" rx="6" fill="currentColor" />
    <path
      d="M5 15.5h14M8 15.5c0-5 2.2-8 6.4-8 1.7 0 2.9.8 3.4 2l1.7.7-1.8.9c-.4 2.7-2.4 4.4-5.2 4.4M9.5 15.5v2.2M14 15.5v2.2"
      fill="none"
      className="stroke-surface"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
)
