import { Fragment, type ReactNode } from 'react'

/** Bold text, and links that lead nowhere but to pages and mailboxes. */
const markPattern = /\*\*([^*\n]+)\*\*|\[([^\]\n]+)\]\(((?:https?:\/\/|mailto:)[^\s()]+)\)/gi

/** Shows the text of an announcement. Everything that is no mark is shown as it is, so no HTML gets in. */
export function AnnouncementBody({ text }: { text: string }) {
  const paragraphs = text.split(/\n\s*\n/).filter((paragraph) => paragraph.trim() !== '')
  return paragraphs.map((paragraph, at) => (
    <p key={at} className="mt-1 text-ink">
      {linesOf(paragraph.trim())}
    </p>
  ))
}

const linesOf = (paragraph: string): ReactNode[] =>
  paragraph.split('\n').map((line, at) => (
    <Fragment key={at}>
      {at > 0 && <br />}
      {markedText(line)}
    </Fragment>
  ))

function markedText(line: string): ReactNode[] {
  const parts: ReactNode[] = []
  let end = 0
  for (const match of line.matchAll(markPattern)) {
    const [all, bold, label, address] = match
    parts.push(line.slice(end, match.index))
    parts.push(
      bold === undefined ? (
        <a
          key={match.index}
          href={address}
          target="_blank"
          rel="noreferrer"
          className="font-medium underline underline-offset-2"
        >
          {label}
        </a>
      ) : (
        <strong key={match.index}>{bold}</strong>
      ),
    )
    end = match.index + all.length
  }
  return [...parts, line.slice(end)]
}
