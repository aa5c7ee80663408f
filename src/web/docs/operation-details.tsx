import type { ReactNode } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import type { ApiDocument, Parameter } from '../api/openapi.ts'
import { formatNumber } from '../app/formats.ts'
import { site } from '../app/site.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { curlOf } from './curl.ts'
import { SchemaTree, TypeText } from './schema-tree.tsx'
import { resolveResponse } from './schemas.ts'
import type { DocumentedOperation } from './sections.ts'
import { TryIt } from './try-it.tsx'

type DetailsProps = { document: ApiDocument; operation: DocumentedOperation }

/** Shows the requirements, parameters, body, responses, errors and a curl command of an operation. */
export function OperationDetails({ document, operation }: DetailsProps) {
  const { t } = useTranslation('docs')
  const { method, path, parameters, requestBody, responses } = operation
  const isTryable = method === 'GET' && path.startsWith('/api/client') && site.user !== null
  return (
    <div className="flex min-w-0 flex-col gap-5">
      <Requirements document={document} operation={operation} />
      {parameters.length > 0 && (
        <DetailSection title={t('parameters')}>
          <Parameters parameters={parameters} />
        </DetailSection>
      )}
      {Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => (
        <DetailSection key={type} title={t('body')} note={type}>
          <SchemaTree document={document} schema={schema} />
        </DetailSection>
      ))}
      {Object.entries(responses)
        .filter(([status]) => /^[23]/.test(status))
        .map(([status, answer]) => (
          <DetailSection key={status} title={t('answer')} note={`${status} · ${answer.description ?? ''}`}>
            {Object.values(answer.content ?? {}).map(({ schema }) => (
              <SchemaTree key="body" document={document} schema={schema} />
            ))}
            {!answer.content && <p className="text-sm text-muted">{t('no_body')}</p>}
          </DetailSection>
        ))}
      <ErrorResponses document={document} operation={operation} />
      <Curl document={document} operation={operation} />
      {isTryable && (
        <DetailSection title={t('try.title')}>
          <TryIt operation={operation} />
        </DetailSection>
      )}
    </div>
  )
}

function DetailSection({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="min-w-0">
      <div className="mb-1.5 flex flex-wrap items-baseline gap-x-2">
        <h5 className="text-sm font-semibold">{title}</h5>
        {note && (
          <span lang="en" className="font-mono text-xs text-muted">
            {note}
          </span>
        )}
      </div>
      {children}
    </section>
  )
}

function Requirements({ document, operation }: DetailsProps) {
  const { t } = useTranslation('docs')
  const schemes = operation.security.flatMap(Object.keys)
  const throttles = operation['x-throttles'] ?? []
  return (
    <dl className="grid min-w-0 gap-x-4 gap-y-2 text-sm sm:grid-cols-[auto_minmax(0,1fr)]">
      <dt className="text-muted">{t('credential')}</dt>
      <dd lang={schemes.length > 0 ? 'en' : undefined}>
        {schemes.length === 0 && t('credential_none')}
        {schemes.map((name) => (
          <p key={name}>
            <code className="text-xs text-brand-text">{name}</code>{' '}
            {document.components.securitySchemes[name]?.description}
          </p>
        ))}
      </dd>
      <dt className="text-muted">{t('permission')}</dt>
      <dd className="font-mono text-xs leading-5 wrap-anywhere">{operation['x-permission']}</dd>
      {throttles.length > 0 && <dt className="text-muted">{t('throttle')}</dt>}
      {throttles.length > 0 && (
        <dd>
          {throttles.map(({ name, limit, seconds }) => (
            <p key={name}>
              {limit === 'configured'
                ? t('throttle_configured', { count: seconds })
                : t('throttle_of', { requests: formatNumber(limit), count: seconds })}
            </p>
          ))}
        </dd>
      )}
    </dl>
  )
}

function Parameters({ parameters }: { parameters: readonly Parameter[] }) {
  const { t } = useTranslation('docs')
  return (
    <ul className="divide-y divide-line rounded-control border border-line bg-canvas px-3">
      {parameters.map(({ name, in: place, required, schema }) => (
        <li
          key={`${place} ${name}`}
          className="flex min-h-9 min-w-0 flex-wrap items-center gap-x-2 py-1 text-sm"
        >
          <span className="font-mono font-medium wrap-anywhere">{name}</span>
          <span className="text-xs text-muted">{t(`place.${place}`)}</span>
          <TypeText schema={schema} />
          {required && <span className="text-xs text-warn">{t('required')}</span>}
        </li>
      ))}
    </ul>
  )
}

function ErrorResponses({ document, operation }: DetailsProps) {
  const { t } = useTranslation('docs')
  const refusals = Object.entries(operation.responses).filter(([status]) => !/^[23]/.test(status))
  const schema = { $ref: '#/components/schemas/Errors' }
  return (
    <DetailSection title={t('refusals')}>
      <dl lang="en" className="mb-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        {refusals.map(([status, answer]) => (
          <div key={status} className="contents">
            <dt className="font-mono text-xs leading-5">{status}</dt>
            <dd className="text-muted">{resolveResponse(document, answer).description}</dd>
          </div>
        ))}
      </dl>
      <SchemaTree document={document} schema={schema} />
    </DetailSection>
  )
}

function Curl({ document, operation }: DetailsProps) {
  const { t } = useTranslation('docs')
  const text = curlOf(document, operation, location.origin)
  return (
    <DetailSection title={t('example')}>
      <div className="flex min-w-0 items-start gap-1 rounded-control border border-line bg-canvas">
        {/* Focusable, so that long lines can be scrolled by keyboard. */}
        <pre
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard has to reach it
          tabIndex={0}
          role="group"
          aria-label={t('example')}
          className="max-h-96 min-w-0 flex-1 overflow-auto p-3 font-mono text-xs leading-5"
        >
          {text}
        </pre>
        <CopyButton text={text} label={t('copy_example')} />
      </div>
    </DetailSection>
  )
}
