export type Document = Record<string, unknown>

/** A variable as Pterodactyl writes it. */
export const variable = {
  name: 'Jar',
  description: 'File that is started',
  env_variable: 'SERVER_JARFILE',
  default_value: 'server.jar',
  user_viewable: true,
  user_editable: true,
  rules: 'required|string|max:40',
  field_type: 'text',
}

/** Builds a document of the second Pterodactyl format. */
export function pterodactyl(changes: Document = {}): Document {
  return {
    _comment: 'x',
    meta: { version: 'PTDL_v2', update_url: 'https://eggs.example/plain.json' },
    exported_at: '2031-01-01T00:00:00+00:00',
    name: 'Plain',
    author: 'maker@eggs.example',
    description: 'A plain egg',
    features: ['eula'],
    docker_images: { 'Java 21': 'ghcr.io/acme/java:21', 'Java 17': '~local/java:17' },
    file_denylist: ['*.key', ''],
    startup: 'java -jar {{SERVER_JARFILE}} --port {{SERVER_PORT}}',
    config: {
      files:
        '{"server.properties":{"parser":"properties","find":{"server-port":"{{server.build.default.port}}"}}}',
      startup: '{\r\n "done": "ready", "userInteraction": []\r\n}',
      logs: '{}',
      stop: 'stop',
    },
    scripts: {
      installation: { script: '#!/bin/ash\necho hi\n', container: 'alpine:3.20', entrypoint: 'ash' },
    },
    variables: [variable],
    ...changes,
  }
}

/** Builds a document of the third Pelican format. */
export function pelican(changes: Document = {}): Document {
  return pterodactyl({
    meta: { version: 'PLCN_v3', update_url: null },
    uuid: '0C2F7A10-9b1d-4e55-8a3e-6f0d2b1c4e7a',
    tags: ['minecraft'],
    icon: 'data:image/png;base64,AAAA',
    startup: undefined,
    startup_commands: { Default: 'java -jar {{SERVER_JARFILE}}' },
    file_denylist: {},
    config: {
      files: { 'a.yml': { parser: 'yaml', find: { port: '{{server.allocations.default.port}}' } } },
      startup: { done: ['ready', 'regex:^up$'], strip_ansi: true },
      logs: {},
      stop: '^C',
    },
    variables: [{ ...variable, rules: ['required', 'string', 'max:40'], sort: 1 }],
    ...changes,
  })
}
