import type { FormValues } from '../form/resource-form.tsx'
import { relatedRows, type Server } from '../resources.ts'

/** Returns the egg, the command and the variables of a server that was fetched with its variables. */
export const startupValues = (server: Server): FormValues => ({
  egg: String(server.egg),
  startup: server.container.startup_command,
  ...Object.fromEntries(
    relatedRows(server.relationships?.variables).map(
      ({ env_variable: name, server_value: own, default_value: value }) => [
        `environment.${name}`,
        own ?? value ?? '',
      ],
    ),
  ),
})
