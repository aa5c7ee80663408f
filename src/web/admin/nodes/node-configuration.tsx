import { useMutation, useQuery } from '@tanstack/react-query'
import { Download, KeyRound } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { TextArea } from '../../components/field.tsx'
import { saveFile } from '../../components/save-file.ts'
import { Loaded } from '../../components/states.tsx'
import { toastError } from '../../components/toast.tsx'
import type { Item, Node } from '../resources.ts'

type Configuration = { remote: string } & Record<string, unknown>

/** How the daemon of a node gets its configuration: by one command, or by a file. */
export function NodeConfiguration({ node }: { node: Node }) {
  const { t } = useTranslation('admin')
  const query = useQuery(adminQuery<Configuration>(`/nodes/${node.id}/configuration`))
  return (
    <Loaded query={query}>
      {(configuration) => {
        const text = JSON.stringify(configuration, null, 2)
        return (
          <div className="flex flex-col gap-4">
            <ConfigureCommand node={node} remote={configuration.remote} />
            <Card
              title={t('nodes.file')}
              text={t('nodes.file_text')}
              actions={
                <span className="flex gap-1">
                  <CopyButton text={text} />
                  <Button icon={Download} onClick={() => saveFile('config.yml', 'application/yaml', text)}>
                    {t('strings:action.download')}
                  </Button>
                </span>
              }
            >
              <TextArea
                label={t('nodes.file')}
                hideLabel
                mono
                readOnly
                rows={16}
                className="private"
                value={text}
              />
            </Card>
          </div>
        )
      }}
    </Loaded>
  )
}

type Command = { command: string; expires_at: string }

/** The command that writes the configuration on the node; it needs a key, which is made when it is asked for. */
export function ConfigureCommand({ node, remote }: { node: Node; remote: string }) {
  const { t } = useTranslation('admin')
  const creating = useMutation({
    mutationFn: () => adminSend<Item<Command>>('POST', `/nodes/${node.id}/configure-command`),
    onError: (error) => toastError(error, t('strings:failure.other')),
  })
  const made = creating.data?.attributes.command
  const command = made ?? `wings configure --panel-url ${remote} --token … --node ${node.id}`
  return (
    <Card title={t('nodes.command')} text={t('nodes.command_text')}>
      <div className="flex items-start justify-between gap-2 rounded-control bg-raised py-1 pe-1 ps-3">
        <code className="min-w-0 py-1.5 text-xs wrap-anywhere">{command}</code>
        {made !== undefined && <CopyButton text={command} />}
      </div>
      {made === undefined && (
        <Button
          icon={KeyRound}
          variant="primary"
          className="mt-3"
          busy={creating.isPending}
          onClick={() => creating.mutate()}
        >
          {t('nodes.make_command')}
        </Button>
      )}
    </Card>
  )
}
