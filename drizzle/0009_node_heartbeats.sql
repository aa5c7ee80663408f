CREATE TABLE "node_heartbeats" (
	"id" integer PRIMARY KEY NOT NULL,
	"is_up" boolean NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"checked_at" timestamp (3) with time zone NOT NULL,
	"last_up_at" timestamp (3) with time zone,
	"cause" text,
	"status" integer,
	"version" text,
	"clock_offset" integer,
	"latency_ms" integer,
	"cpu" double precision,
	"memory_bytes" bigint,
	"disk_bytes" bigint,
	"servers" integer,
	"running_servers" integer,
	CONSTRAINT "node_heartbeats_cause" CHECK ("node_heartbeats"."cause" in ('dns', 'refused', 'no_route', 'timeout', 'reset', 'certificate', 'tls', 'credential', 'answer', 'failed', 'unreachable'))
);
--> statement-breakpoint
CREATE TABLE "node_samples" (
	"node_id" integer NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"minutes" smallint[] NOT NULL,
	"cpu" real[] NOT NULL,
	"memory_bytes" bigint[] NOT NULL,
	"disk_bytes" bigint[] NOT NULL,
	"network_rx_bytes" bigint[] NOT NULL,
	"network_tx_bytes" bigint[] NOT NULL,
	"running_servers" integer[] NOT NULL,
	CONSTRAINT "node_samples_node_id_hour_pk" PRIMARY KEY("node_id","hour")
);
--> statement-breakpoint
CREATE TABLE "server_samples" (
	"server_id" integer NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"minutes" smallint[] NOT NULL,
	"cpu" real[] NOT NULL,
	"memory_bytes" bigint[] NOT NULL,
	"disk_bytes" bigint[] NOT NULL,
	"network_rx_bytes" bigint[] NOT NULL,
	"network_tx_bytes" bigint[] NOT NULL,
	"states" smallint[] NOT NULL,
	"uptimes" integer[] NOT NULL,
	CONSTRAINT "server_samples_server_id_hour_pk" PRIMARY KEY("server_id","hour")
);
--> statement-breakpoint
CREATE TABLE "server_states" (
	"server_id" integer PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "server_states_state" CHECK ("server_states"."state" in ('offline', 'starting', 'running', 'stopping'))
);
--> statement-breakpoint
ALTER TABLE "node_heartbeats" ADD CONSTRAINT "node_heartbeats_id_nodes_id_fk" FOREIGN KEY ("id") REFERENCES "public"."nodes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "node_samples" ADD CONSTRAINT "node_samples_node_id_nodes_id_fk" FOREIGN KEY ("node_id") REFERENCES "public"."nodes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_samples" ADD CONSTRAINT "server_samples_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_states" ADD CONSTRAINT "server_states_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "node_samples_hour_index" ON "node_samples" USING btree ("hour");--> statement-breakpoint
CREATE INDEX "server_samples_hour_index" ON "server_samples" USING btree ("hour");