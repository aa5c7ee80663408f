CREATE EXTENSION IF NOT EXISTS pg_trgm;--> statement-breakpoint
CREATE TABLE "activity_subjects" (
	"activity_id" bigint NOT NULL,
	"subject_type" text NOT NULL,
	"subject_id" integer NOT NULL,
	CONSTRAINT "activity_subjects_activity_id_subject_type_subject_id_pk" PRIMARY KEY("activity_id","subject_type","subject_id")
);
--> statement-breakpoint
CREATE TABLE "activity" (
	"id" bigserial NOT NULL,
	"timestamp" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"event" text NOT NULL,
	"ip" text,
	"source" text NOT NULL,
	"actor_id" integer,
	"api_key_id" integer,
	"server_id" integer,
	"user_id" integer,
	"node_id" integer,
	"description" text,
	"properties" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"digest" text,
	CONSTRAINT "activity_id_timestamp_pk" PRIMARY KEY("id","timestamp"),
	CONSTRAINT "activity_source" CHECK ("activity"."source" in ('web', 'api', 'sftp', 'system'))
) PARTITION BY RANGE ("timestamp");--> statement-breakpoint
CREATE TABLE "activity_default" PARTITION OF "activity" DEFAULT;
--> statement-breakpoint
CREATE TABLE "allocations" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "allocations_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"node_id" integer NOT NULL,
	"ip" text NOT NULL,
	"ip_alias" text,
	"port" integer NOT NULL,
	"server_id" integer,
	"notes" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "allocations_nodeId_ip_port_unique" UNIQUE("node_id","ip","port"),
	CONSTRAINT "allocations_id_server_id_unique" UNIQUE("id","server_id"),
	CONSTRAINT "allocations_port" CHECK ("allocations"."port" between 1 and 65535),
	CONSTRAINT "allocations_notes_length" CHECK (length("allocations"."notes") <= 256),
	CONSTRAINT "allocations_ip_alias_length" CHECK (length("allocations"."ip_alias") <= 191)
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "api_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"type" text NOT NULL,
	"identifier" text NOT NULL,
	"secret_hash" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"allowed_ips" text[] DEFAULT '{}' NOT NULL,
	"acl" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "api_keys_identifier_unique" UNIQUE("identifier"),
	CONSTRAINT "api_keys_type" CHECK ("api_keys"."type" in ('account', 'application')),
	CONSTRAINT "api_keys_identifier_length" CHECK (length("api_keys"."identifier") = 16),
	CONSTRAINT "api_keys_allowed_ips" CHECK (cardinality("api_keys"."allowed_ips") <= 50),
	CONSTRAINT "api_keys_description_length" CHECK (length("api_keys"."description") <= 500)
);
--> statement-breakpoint
CREATE TABLE "backups" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "backups_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"uuid" uuid DEFAULT gen_random_uuid() NOT NULL,
	"server_id" integer NOT NULL,
	"name" text NOT NULL,
	"ignored_files" text[] DEFAULT '{}' NOT NULL,
	"disk" text NOT NULL,
	"upload_id" text,
	"is_successful" boolean DEFAULT false NOT NULL,
	"is_locked" boolean DEFAULT false NOT NULL,
	"is_scheduled" boolean DEFAULT false NOT NULL,
	"checksum" text,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"deleting_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "backups_uuid_unique" UNIQUE("uuid")
);
--> statement-breakpoint
CREATE TABLE "database_hosts" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "database_hosts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"host" text NOT NULL,
	"port" integer DEFAULT 3306 NOT NULL,
	"username" text NOT NULL,
	"password" text NOT NULL,
	"max_databases" integer,
	"node_id" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "database_hosts_port" CHECK ("database_hosts"."port" between 1 and 65535)
);
--> statement-breakpoint
CREATE TABLE "databases" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "databases_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"server_id" integer NOT NULL,
	"database_host_id" integer NOT NULL,
	"database" text NOT NULL,
	"username" text NOT NULL,
	"remote" text DEFAULT '%' NOT NULL,
	"password" text NOT NULL,
	"max_connections" integer DEFAULT 0 NOT NULL,
	"state" text DEFAULT 'creating' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "databases_databaseHostId_username_unique" UNIQUE("database_host_id","username"),
	CONSTRAINT "databases_databaseHostId_database_unique" UNIQUE("database_host_id","database"),
	CONSTRAINT "databases_serverId_database_unique" UNIQUE("server_id","database"),
	CONSTRAINT "databases_state" CHECK ("databases"."state" in ('creating', 'ready', 'deleting')),
	CONSTRAINT "databases_database_length" CHECK (length("databases"."database") <= 48)
);
--> statement-breakpoint
CREATE TABLE "egg_variables" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "egg_variables_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"egg_id" integer NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"env_variable" text NOT NULL,
	"default_value" text DEFAULT '' NOT NULL,
	"user_viewable" boolean DEFAULT false NOT NULL,
	"user_editable" boolean DEFAULT false NOT NULL,
	"rules" text DEFAULT '' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "egg_variables_eggId_envVariable_unique" UNIQUE("egg_id","env_variable")
);
--> statement-breakpoint
CREATE TABLE "eggs" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "eggs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"uuid" uuid DEFAULT gen_random_uuid() NOT NULL,
	"nest_id" integer NOT NULL,
	"author" text NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"features" json,
	"docker_images" json NOT NULL,
	"file_denylist" text[] DEFAULT '{}' NOT NULL,
	"update_url" text,
	"config_files" json,
	"config_startup" json,
	"config_logs" json,
	"config_stop" text,
	"config_from" integer,
	"startup" text NOT NULL,
	"script_container" text DEFAULT 'alpine:3.4' NOT NULL,
	"copy_script_from" integer,
	"script_entry" text DEFAULT 'ash' NOT NULL,
	"script_is_privileged" boolean DEFAULT true NOT NULL,
	"script_install" text,
	"force_outgoing_ip" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "eggs_uuid_unique" UNIQUE("uuid")
);
--> statement-breakpoint
CREATE TABLE "game_queries" (
	"server_id" integer PRIMARY KEY NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"players" integer,
	"max_players" integer,
	"game" text DEFAULT '' NOT NULL,
	"checked_at" timestamp (3) with time zone,
	"requested_at" timestamp (3) with time zone,
	CONSTRAINT "game_queries_status" CHECK ("game_queries"."status" in ('pending', 'online', 'offline', 'unsupported', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "identities" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "identities_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"provider" text NOT NULL,
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"display_name" text NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "identities_provider_issuer_subject_unique" UNIQUE("provider","issuer","subject")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"name" text NOT NULL,
	"payload" jsonb NOT NULL,
	"key" text,
	"state" text DEFAULT 'waiting' NOT NULL,
	"run_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"deadline_at" timestamp (3) with time zone NOT NULL,
	"leased_until" timestamp (3) with time zone,
	"fence" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"finished_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "jobs_state" CHECK ("jobs"."state" in ('waiting', 'done', 'dead'))
);
--> statement-breakpoint
CREATE TABLE "locations" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "locations_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"short" text NOT NULL,
	"long" text,
	"region" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "locations_short_length" CHECK (length("locations"."short") between 1 and 60),
	CONSTRAINT "locations_long_length" CHECK (length("locations"."long") between 1 and 191)
);
--> statement-breakpoint
CREATE TABLE "nests" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "nests_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"uuid" uuid DEFAULT gen_random_uuid() NOT NULL,
	"author" text NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "nests_uuid_unique" UNIQUE("uuid")
);
--> statement-breakpoint
CREATE TABLE "nodes" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "nodes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"uuid" uuid DEFAULT gen_random_uuid() NOT NULL,
	"public" boolean DEFAULT true NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"location_id" integer NOT NULL,
	"fqdn" text NOT NULL,
	"scheme" text DEFAULT 'https' NOT NULL,
	"behind_proxy" boolean DEFAULT false NOT NULL,
	"maintenance_mode" boolean DEFAULT false NOT NULL,
	"memory" integer NOT NULL,
	"memory_overallocate" integer DEFAULT 0 NOT NULL,
	"disk" integer NOT NULL,
	"disk_overallocate" integer DEFAULT 0 NOT NULL,
	"upload_size" integer DEFAULT 100 NOT NULL,
	"daemon_listen" integer DEFAULT 8080 NOT NULL,
	"daemon_sftp" integer DEFAULT 2022 NOT NULL,
	"daemon_base" text DEFAULT '/var/lib/pterodactyl/volumes' NOT NULL,
	"country_code" text,
	"query_address" text,
	"sftp_domain" text,
	"daemon_token_id" text NOT NULL,
	"daemon_token" text NOT NULL,
	"previous_token_id" text,
	"previous_token" text,
	"previous_token_expires_at" timestamp (3) with time zone,
	"used_memory" bigint DEFAULT 0 NOT NULL,
	"used_disk" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "nodes_uuid_unique" UNIQUE("uuid"),
	CONSTRAINT "nodes_daemonTokenId_unique" UNIQUE("daemon_token_id"),
	CONSTRAINT "nodes_previousTokenId_unique" UNIQUE("previous_token_id"),
	CONSTRAINT "nodes_scheme" CHECK ("nodes"."scheme" in ('http', 'https')),
	CONSTRAINT "nodes_name_length" CHECK (length("nodes"."name") between 1 and 100),
	CONSTRAINT "nodes_capacity" CHECK ("nodes"."memory" >= 1 and "nodes"."disk" >= 1 and "nodes"."upload_size" >= 1),
	CONSTRAINT "nodes_overallocate" CHECK ("nodes"."memory_overallocate" >= -1 and "nodes"."disk_overallocate" >= -1),
	CONSTRAINT "nodes_used" CHECK ("nodes"."used_memory" >= 0 and "nodes"."used_disk" >= 0),
	CONSTRAINT "nodes_ports" CHECK ("nodes"."daemon_listen" between 1 and 65535 and "nodes"."daemon_sftp" between 1 and 65535),
	CONSTRAINT "nodes_country_code_length" CHECK (length("nodes"."country_code") = 2)
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "passkeys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"name" text NOT NULL,
	"credential_id" text NOT NULL,
	"public_key" text NOT NULL,
	"counter" bigint DEFAULT 0 NOT NULL,
	"transports" text[] DEFAULT '{}' NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "passkeys_credentialId_unique" UNIQUE("credential_id")
);
--> statement-breakpoint
CREATE TABLE "password_resets" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "password_resets_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"token_hash" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "password_resets_tokenHash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "recovery_tokens" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "recovery_tokens_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"token_hash" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "recovery_tokens_userId_tokenHash_unique" UNIQUE("user_id","token_hash")
);
--> statement-breakpoint
CREATE TABLE "schedule_runs" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"schedule_id" integer NOT NULL,
	"trigger" text NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"state" text DEFAULT 'running' NOT NULL,
	"reason" text,
	"requested_by" integer,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "schedule_runs_trigger" CHECK ("schedule_runs"."trigger" in ('cron', 'manual')),
	CONSTRAINT "schedule_runs_state" CHECK ("schedule_runs"."state" in ('running', 'succeeded', 'failed', 'skipped'))
);
--> statement-breakpoint
CREATE TABLE "schedule_steps" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "schedule_steps_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"run_id" uuid NOT NULL,
	"task_id" integer,
	"sequence_id" integer NOT NULL,
	"action" text NOT NULL,
	"payload" text DEFAULT '' NOT NULL,
	"continue_on_failure" boolean DEFAULT false NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"reason" text,
	"due_at" timestamp (3) with time zone,
	"dispatched_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "schedule_steps_runId_sequenceId_unique" UNIQUE("run_id","sequence_id"),
	CONSTRAINT "schedule_steps_action" CHECK ("schedule_steps"."action" in ('command', 'power', 'backup')),
	CONSTRAINT "schedule_steps_state" CHECK ("schedule_steps"."state" in ('pending', 'dispatched', 'succeeded', 'failed', 'unknown', 'skipped'))
);
--> statement-breakpoint
CREATE TABLE "schedules" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "schedules_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"server_id" integer NOT NULL,
	"name" text NOT NULL,
	"cron_minute" text NOT NULL,
	"cron_hour" text NOT NULL,
	"cron_day_of_month" text NOT NULL,
	"cron_month" text DEFAULT '*' NOT NULL,
	"cron_day_of_week" text NOT NULL,
	"timezone" text DEFAULT 'UTC' NOT NULL,
	"is_active" boolean DEFAULT false NOT NULL,
	"is_processing" boolean DEFAULT false NOT NULL,
	"only_when_online" boolean DEFAULT false NOT NULL,
	"last_run_at" timestamp (3) with time zone,
	"next_run_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "servers" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "servers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"uuid" uuid DEFAULT gen_random_uuid() NOT NULL,
	"uuid_short" text NOT NULL,
	"external_id" text,
	"node_id" integer NOT NULL,
	"owner_id" integer NOT NULL,
	"egg_id" integer NOT NULL,
	"allocation_id" integer NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"status" text,
	"skip_scripts" boolean DEFAULT false NOT NULL,
	"memory" integer NOT NULL,
	"swap" integer NOT NULL,
	"disk" integer NOT NULL,
	"io" integer NOT NULL,
	"cpu" integer NOT NULL,
	"threads" text,
	"oom_disabled" boolean DEFAULT true NOT NULL,
	"startup" text NOT NULL,
	"image" text NOT NULL,
	"variables" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"database_limit" integer,
	"allocation_limit" integer,
	"backup_limit" integer DEFAULT 0 NOT NULL,
	"installed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "servers_uuid_unique" UNIQUE("uuid"),
	CONSTRAINT "servers_uuidShort_unique" UNIQUE("uuid_short"),
	CONSTRAINT "servers_externalId_unique" UNIQUE("external_id"),
	CONSTRAINT "servers_allocationId_unique" UNIQUE("allocation_id"),
	CONSTRAINT "servers_status" CHECK ("servers"."status" in ('installing', 'install_failed', 'reinstall_failed', 'suspended', 'restoring_backup')),
	CONSTRAINT "servers_uuid_short" CHECK ("servers"."uuid_short" = left("servers"."uuid"::text, 8)),
	CONSTRAINT "servers_name_length" CHECK (length("servers"."name") between 1 and 191),
	CONSTRAINT "servers_external_id_length" CHECK (length("servers"."external_id") between 1 and 191),
	CONSTRAINT "servers_limits" CHECK ("servers"."memory" >= 0 and "servers"."swap" >= -1 and "servers"."disk" >= 0 and "servers"."cpu" >= 0),
	CONSTRAINT "servers_io" CHECK ("servers"."io" between 10 and 1000),
	CONSTRAINT "servers_feature_limits" CHECK ("servers"."database_limit" >= 0 and "servers"."allocation_limit" >= 0 and "servers"."backup_limit" >= 0)
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" integer,
	"auth_version" integer DEFAULT 0 NOT NULL,
	"data" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"ip" text NOT NULL,
	"user_agent" text DEFAULT '' NOT NULL,
	"is_remembered" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_active_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "settings" (
	"key" text PRIMARY KEY NOT NULL,
	"value" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ssh_keys" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ssh_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"name" text NOT NULL,
	"fingerprint" text NOT NULL,
	"public_key" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "ssh_keys_userId_fingerprint_unique" UNIQUE("user_id","fingerprint")
);
--> statement-breakpoint
CREATE TABLE "subusers" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "subusers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"server_id" integer NOT NULL,
	"permissions" text[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "subusers_serverId_userId_unique" UNIQUE("server_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "tasks" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tasks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"schedule_id" integer NOT NULL,
	"sequence_id" integer NOT NULL,
	"action" text NOT NULL,
	"payload" text DEFAULT '' NOT NULL,
	"time_offset" integer NOT NULL,
	"is_queued" boolean DEFAULT false NOT NULL,
	"continue_on_failure" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tasks_action" CHECK ("tasks"."action" in ('command', 'power', 'backup')),
	CONSTRAINT "tasks_time_offset" CHECK ("tasks"."time_offset" between 0 and 900),
	CONSTRAINT "tasks_sequence_id" CHECK ("tasks"."sequence_id" >= 1)
);
--> statement-breakpoint
CREATE TABLE "throttles" (
	"key" text PRIMARY KEY NOT NULL,
	"hits" integer NOT NULL,
	"resets_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "transfers" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "transfers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"server_id" integer NOT NULL,
	"old_node_id" integer NOT NULL,
	"new_node_id" integer NOT NULL,
	"old_allocation_id" integer NOT NULL,
	"new_allocation_id" integer NOT NULL,
	"old_additional_allocations" integer[] DEFAULT '{}' NOT NULL,
	"new_additional_allocations" integer[] DEFAULT '{}' NOT NULL,
	"successful" boolean,
	"deadline_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "trash_items" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"server_id" integer NOT NULL,
	"name" text NOT NULL,
	"path" text NOT NULL,
	"is_file" boolean NOT NULL,
	"ready" boolean DEFAULT false NOT NULL,
	"deleted_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "users_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"uuid" uuid DEFAULT gen_random_uuid() NOT NULL,
	"external_id" text,
	"username" text NOT NULL,
	"email" text NOT NULL,
	"first_name" text NOT NULL,
	"last_name" text NOT NULL,
	"password_hash" text,
	"language" text DEFAULT 'en' NOT NULL,
	"root_admin" boolean DEFAULT false NOT NULL,
	"totp_secret" text,
	"totp_enabled_at" timestamp (3) with time zone,
	"totp_last_step" bigint,
	"avatar_key" text,
	"blur_sensitive_data" boolean DEFAULT false NOT NULL,
	"auth_version" integer DEFAULT 0 NOT NULL,
	"api_key_count" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_uuid_unique" UNIQUE("uuid"),
	CONSTRAINT "users_externalId_unique" UNIQUE("external_id"),
	CONSTRAINT "users_external_id_length" CHECK (length("users"."external_id") between 1 and 191),
	CONSTRAINT "users_api_key_count" CHECK ("users"."api_key_count" between 0 and 25)
);
--> statement-breakpoint
ALTER TABLE "allocations" ADD CONSTRAINT "allocations_node_id_nodes_id_fk" FOREIGN KEY ("node_id") REFERENCES "public"."nodes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "allocations" ADD CONSTRAINT "allocations_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "database_hosts" ADD CONSTRAINT "database_hosts_node_id_nodes_id_fk" FOREIGN KEY ("node_id") REFERENCES "public"."nodes"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "databases" ADD CONSTRAINT "databases_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "databases" ADD CONSTRAINT "databases_database_host_id_database_hosts_id_fk" FOREIGN KEY ("database_host_id") REFERENCES "public"."database_hosts"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "egg_variables" ADD CONSTRAINT "egg_variables_egg_id_eggs_id_fk" FOREIGN KEY ("egg_id") REFERENCES "public"."eggs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "eggs" ADD CONSTRAINT "eggs_nest_id_nests_id_fk" FOREIGN KEY ("nest_id") REFERENCES "public"."nests"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "eggs" ADD CONSTRAINT "eggs_config_from_eggs_id_fk" FOREIGN KEY ("config_from") REFERENCES "public"."eggs"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "eggs" ADD CONSTRAINT "eggs_copy_script_from_eggs_id_fk" FOREIGN KEY ("copy_script_from") REFERENCES "public"."eggs"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game_queries" ADD CONSTRAINT "game_queries_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "nodes" ADD CONSTRAINT "nodes_location_id_locations_id_fk" FOREIGN KEY ("location_id") REFERENCES "public"."locations"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recovery_tokens" ADD CONSTRAINT "recovery_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedule_runs" ADD CONSTRAINT "schedule_runs_schedule_id_schedules_id_fk" FOREIGN KEY ("schedule_id") REFERENCES "public"."schedules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedule_runs" ADD CONSTRAINT "schedule_runs_requested_by_users_id_fk" FOREIGN KEY ("requested_by") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedule_steps" ADD CONSTRAINT "schedule_steps_run_id_schedule_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."schedule_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedule_steps" ADD CONSTRAINT "schedule_steps_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "servers" ADD CONSTRAINT "servers_node_id_nodes_id_fk" FOREIGN KEY ("node_id") REFERENCES "public"."nodes"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "servers" ADD CONSTRAINT "servers_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "servers" ADD CONSTRAINT "servers_egg_id_eggs_id_fk" FOREIGN KEY ("egg_id") REFERENCES "public"."eggs"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ssh_keys" ADD CONSTRAINT "ssh_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subusers" ADD CONSTRAINT "subusers_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subusers" ADD CONSTRAINT "subusers_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_schedule_id_schedules_id_fk" FOREIGN KEY ("schedule_id") REFERENCES "public"."schedules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "transfers" ADD CONSTRAINT "transfers_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "transfers" ADD CONSTRAINT "transfers_old_node_id_nodes_id_fk" FOREIGN KEY ("old_node_id") REFERENCES "public"."nodes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "transfers" ADD CONSTRAINT "transfers_new_node_id_nodes_id_fk" FOREIGN KEY ("new_node_id") REFERENCES "public"."nodes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trash_items" ADD CONSTRAINT "trash_items_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "activity_subjects_subject_type_subject_id_index" ON "activity_subjects" USING btree ("subject_type","subject_id");--> statement-breakpoint
CREATE INDEX "activity_server_id_timestamp_id_index" ON "activity" USING btree ("server_id","timestamp","id");--> statement-breakpoint
CREATE INDEX "activity_server_id_event_timestamp_id_index" ON "activity" USING btree ("server_id","event","timestamp","id");--> statement-breakpoint
CREATE INDEX "activity_user_id_timestamp_id_index" ON "activity" USING btree ("user_id","timestamp","id");--> statement-breakpoint
CREATE INDEX "activity_actor_id_timestamp_id_index" ON "activity" USING btree ("actor_id","timestamp","id");--> statement-breakpoint
CREATE UNIQUE INDEX "activity_digest_index" ON "activity" USING btree ("digest","timestamp") WHERE "activity"."digest" is not null;--> statement-breakpoint
CREATE INDEX "allocations_server_id_index" ON "allocations" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "allocations_free_index" ON "allocations" USING btree ("node_id","ip","port") WHERE "allocations"."server_id" is null;--> statement-breakpoint
CREATE INDEX "api_keys_user_id_index" ON "api_keys" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "backups_server_id_created_at_index" ON "backups" USING btree ("server_id","created_at");--> statement-breakpoint
CREATE INDEX "backups_running_index" ON "backups" USING btree ("created_at") WHERE "backups"."completed_at" is null;--> statement-breakpoint
CREATE INDEX "database_hosts_node_id_index" ON "database_hosts" USING btree ("node_id");--> statement-breakpoint
CREATE INDEX "eggs_nest_id_index" ON "eggs" USING btree ("nest_id");--> statement-breakpoint
CREATE INDEX "eggs_config_from_index" ON "eggs" USING btree ("config_from");--> statement-breakpoint
CREATE INDEX "eggs_copy_script_from_index" ON "eggs" USING btree ("copy_script_from");--> statement-breakpoint
CREATE INDEX "identities_user_id_index" ON "identities" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "jobs_due_index" ON "jobs" USING btree ("run_at") WHERE "jobs"."state" = 'waiting';--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_key_index" ON "jobs" USING btree ("key") WHERE "jobs"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX "jobs_finished_at_index" ON "jobs" USING btree ("finished_at");--> statement-breakpoint
CREATE UNIQUE INDEX "locations_short_index" ON "locations" USING btree (lower("short"));--> statement-breakpoint
CREATE INDEX "nodes_location_id_index" ON "nodes" USING btree ("location_id");--> statement-breakpoint
CREATE INDEX "passkeys_user_id_index" ON "passkeys" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "password_resets_user_id_index" ON "password_resets" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "password_resets_expires_at_index" ON "password_resets" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "schedule_runs_due_index" ON "schedule_runs" USING btree ("schedule_id","due_at") WHERE "schedule_runs"."trigger" = 'cron';--> statement-breakpoint
CREATE INDEX "schedule_runs_schedule_id_started_at_index" ON "schedule_runs" USING btree ("schedule_id","started_at");--> statement-breakpoint
CREATE INDEX "schedule_runs_requested_by_index" ON "schedule_runs" USING btree ("requested_by");--> statement-breakpoint
CREATE INDEX "schedule_steps_task_id_index" ON "schedule_steps" USING btree ("task_id");--> statement-breakpoint
CREATE INDEX "schedules_server_id_index" ON "schedules" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "schedules_due_index" ON "schedules" USING btree ("next_run_at") WHERE "schedules"."is_active" and not "schedules"."is_processing";--> statement-breakpoint
CREATE INDEX "servers_owner_id_id_index" ON "servers" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "servers_node_id_id_index" ON "servers" USING btree ("node_id","id");--> statement-breakpoint
CREATE INDEX "servers_node_id_status_index" ON "servers" USING btree ("node_id","status");--> statement-breakpoint
CREATE INDEX "servers_egg_id_index" ON "servers" USING btree ("egg_id");--> statement-breakpoint
CREATE INDEX "servers_name_trigram_index" ON "servers" USING gin ("name" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "sessions_user_id_index" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_expires_at_index" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "subusers_user_id_server_id_index" ON "subusers" USING btree ("user_id","server_id");--> statement-breakpoint
CREATE INDEX "throttles_resets_at_index" ON "throttles" USING btree ("resets_at");--> statement-breakpoint
CREATE INDEX "transfers_server_id_index" ON "transfers" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "transfers_old_node_id_index" ON "transfers" USING btree ("old_node_id");--> statement-breakpoint
CREATE INDEX "transfers_new_node_id_index" ON "transfers" USING btree ("new_node_id");--> statement-breakpoint
CREATE UNIQUE INDEX "transfers_open_index" ON "transfers" USING btree ("server_id") WHERE "transfers"."successful" is null;--> statement-breakpoint
CREATE INDEX "trash_items_server_id_deleted_at_index" ON "trash_items" USING btree ("server_id","deleted_at");--> statement-breakpoint
CREATE INDEX "trash_items_expires_at_index" ON "trash_items" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "users_username_index" ON "users" USING btree (lower("username"));--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_index" ON "users" USING btree (lower("email"));--> statement-breakpoint
-- What the generator cannot say: constraints that are checked at commit.
ALTER TABLE "servers" ADD CONSTRAINT "servers_allocation_id_id_allocations_fk" FOREIGN KEY ("allocation_id","id") REFERENCES "allocations"("id","server_id") DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_schedule_id_sequence_id_unique" UNIQUE ("schedule_id","sequence_id") DEFERRABLE INITIALLY IMMEDIATE;
