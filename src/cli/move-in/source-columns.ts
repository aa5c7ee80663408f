import type { SourceKind } from './source-schema.ts'

/** Columns of tables that both panels have alike. */
const common: Record<string, string> = {
  user_ssh_keys: 'id user_id name fingerprint public_key created_at updated_at deleted_at',
  mounts: 'id uuid name description source target read_only user_mountable',
  server_variables: 'id server_id variable_id variable_value created_at updated_at',
  subusers: 'id user_id server_id permissions created_at updated_at',
  databases:
    'id server_id database_host_id database username remote password max_connections created_at updated_at',
  schedules:
    'id server_id name cron_day_of_week cron_month cron_day_of_month cron_hour cron_minute is_active is_processing only_when_online last_run_at next_run_at created_at updated_at',
  tasks:
    'id schedule_id sequence_id action payload time_offset is_queued continue_on_failure created_at updated_at',
  settings: 'id key value',
  activity_log_subjects: 'id activity_log_id subject_type subject_id',
}

/** Columns of Pterodactyl 1.7 to 1.12. */
const pterodactyl: Record<string, string> = {
  users:
    'id external_id uuid username email name_first name_last password remember_token language root_admin use_totp totp_secret totp_authenticated_at gravatar created_at updated_at',
  api_keys:
    'id user_id key_type identifier token allowed_ips memo last_used_at expires_at created_at updated_at r_servers r_nodes r_allocations r_users r_locations r_nests r_eggs r_database_hosts r_server_databases',
  locations: 'id short long created_at updated_at',
  nodes:
    'id uuid public name description location_id fqdn scheme behind_proxy maintenance_mode memory memory_overallocate disk disk_overallocate upload_size daemon_token_id daemon_token daemonListen daemonSFTP daemonBase created_at updated_at',
  allocations: 'id node_id ip ip_alias port server_id notes created_at updated_at',
  nests: 'id uuid author name description created_at updated_at',
  eggs: 'id uuid nest_id author name description features docker_images file_denylist update_url config_files config_startup config_logs config_stop config_from startup script_container copy_script_from script_entry script_is_privileged script_install created_at updated_at force_outgoing_ip',
  egg_variables:
    'id egg_id name description env_variable default_value user_viewable user_editable rules created_at updated_at',
  egg_mount: 'egg_id mount_id',
  mount_node: 'node_id mount_id',
  mount_server: 'server_id mount_id',
  servers:
    'id external_id uuid uuidShort node_id name description status skip_scripts owner_id memory swap disk io cpu threads oom_disabled allocation_id nest_id egg_id startup image allocation_limit database_limit backup_limit created_at updated_at installed_at',
  database_hosts: 'id name host port username password max_databases node_id created_at updated_at',
  backups:
    'id server_id uuid upload_id is_successful is_locked name ignored_files disk checksum bytes completed_at created_at updated_at deleted_at',
  recovery_tokens: 'id user_id token created_at',
  activity_logs: 'id batch event ip description actor_type actor_id api_key_id properties timestamp',
  audit_logs: 'id uuid is_system user_id server_id action subaction device metadata created_at',
}

/** Columns of the betas of Pelican of 2026. */
const pelican: Record<string, string> = {
  users:
    'id external_id uuid username email password remember_token language created_at updated_at is_managed_externally timezone oauth customization mfa_app_secret mfa_app_recovery_codes mfa_email_enabled',
  api_keys:
    'id user_id key_type identifier token allowed_ips memo last_used_at expires_at created_at updated_at permissions',
  roles: 'id name guard_name created_at updated_at',
  permissions: 'id name guard_name created_at updated_at',
  role_has_permissions: 'permission_id role_id',
  model_has_roles: 'role_id model_type model_id',
  nodes:
    'id uuid public name description fqdn scheme behind_proxy maintenance_mode memory memory_overallocate disk disk_overallocate upload_size daemon_token_id daemon_token created_at updated_at cpu cpu_overallocate daemon_listen daemon_sftp daemon_sftp_alias daemon_base tags daemon_connect',
  allocations: 'id node_id ip ip_alias port server_id notes created_at updated_at show_port is_locked',
  eggs: 'id uuid author name description features docker_images file_denylist update_url config_files config_startup config_logs config_stop config_from script_container copy_script_from script_entry script_is_privileged script_install created_at updated_at force_outgoing_ip startup_commands tags',
  egg_variables:
    'id egg_id name description env_variable default_value user_viewable user_editable rules created_at updated_at sort',
  mountables: 'mount_id mountable_type mountable_id',
  servers:
    'id external_id uuid node_id name description status skip_scripts owner_id memory swap disk io cpu threads allocation_id egg_id startup image allocation_limit database_limit backup_limit created_at updated_at installed_at uuid_short oom_killer docker_labels',
  database_hosts: 'id name host port username password max_databases created_at updated_at',
  database_host_node: 'id node_id database_host_id created_at updated_at',
  backup_hosts: 'id name schema configuration created_at updated_at',
  backups:
    'id server_id uuid upload_id is_successful is_locked name ignored_files checksum bytes completed_at created_at updated_at is_scheduled backup_host_id',
  activity_logs: 'id event ip description actor_type actor_id api_key_id properties timestamp',
  passkeys: 'id user_id name credential_id credential last_used_at created_at updated_at',
}

const setsOf = (tables: Record<string, string>) =>
  new Map(
    Object.entries({ ...common, ...tables }).map(
      ([table, names]) => [table, new Set(names.split(' '))] as const,
    ),
  )
const known: Record<SourceKind, Map<string, Set<string>>> = {
  pterodactyl: setsOf(pterodactyl),
  pelican: setsOf(pelican),
}

/** Whether a panel has the column in one of its versions. Of tables that do not move, all are known. */
export const isKnownColumn = (kind: SourceKind, table: string, column: string): boolean =>
  known[kind].get(table)?.has(column) ?? true
