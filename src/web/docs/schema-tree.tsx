import { ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import type { ApiDocument, Schema } from '../api/openapi.ts'
import { classNames } from '../components/class-names.ts'
import { hasMembers, constraintsOf, type Member, membersOf, resolveSchema, typeOf } from './schemas.ts'

/** Shows the structure of a body. Nested schemas are resolved when they are opened, since schemas can be recursive. */
export function SchemaTree({ document, schema }: { document: ApiDocument; schema: Schema }) {
  const resolved = resolveSchema(document, schema)
  const members = membersOf(resolved)
  return (
    <div className="min-w-0 rounded-control border border-line bg-canvas px-3 py-2 text-sm">
      <TypeText schema={schema} />
      {members.length > 0 && <Members document={document} members={members} />}
    </div>
  )
}

function Members({ document, members }: { document: ApiDocument; members: readonly Member[] }) {
  return (
    <ul className="mt-1 flex min-w-0 flex-col border-s border-line ps-3">
      {members.map((member) => (
        <MemberRow key={member.name} document={document} member={member} />
      ))}
    </ul>
  )
}

function MemberRow({
  document,
  member: { name, schema, isRequired },
}: {
  document: ApiDocument
  member: Member
}) {
  const { t } = useTranslation('docs')
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const title = <span className="font-mono font-medium wrap-anywhere">{name}</span>
  return (
    <li className="min-w-0 py-0.5">
      <div className="flex min-w-0 flex-wrap items-center gap-x-2">
        {hasMembers(schema) ? (
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            onClick={() => setOpen(!isOpen)}
            className="-ms-1.5 flex min-h-9 min-w-0 items-center gap-1 rounded-control pe-2 text-start hover:bg-raised"
          >
            <ChevronRight
              aria-hidden
              className={classNames('size-4 shrink-0 text-muted transition-transform', isOpen && 'rotate-90')}
            />
            {title}
          </button>
        ) : (
          <span className="flex min-h-9 min-w-0 items-center">{title}</span>
        )}
        <TypeText schema={schema} />
        {isRequired && <span className="text-xs text-warn">{t('required')}</span>}
      </div>
      {isOpen && (
        <div id={id}>
          <Members document={document} members={membersOf(resolveSchema(document, schema))} />
        </div>
      )}
    </li>
  )
}

/** Shows the type, the constraints and the description of a value. */
export function TypeText({ schema }: { schema: Schema }) {
  const constraints = constraintsOf(schema)
  return (
    <>
      <code className="text-xs text-brand-text wrap-anywhere">{typeOf(schema)}</code>
      {constraints.length > 0 && (
        <code className="text-xs text-muted wrap-anywhere">{constraints.join(', ')}</code>
      )}
      {schema.description && (
        <span lang="en" className="text-xs text-muted wrap-anywhere">
          {schema.description}
        </span>
      )}
    </>
  )
}
