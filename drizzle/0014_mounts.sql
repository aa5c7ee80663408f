CREATE TABLE "egg_mount" (
	"egg_id" integer NOT NULL,
	"mount_id" integer NOT NULL,
	CONSTRAINT "egg_mount_egg_id_mount_id_pk" PRIMARY KEY("egg_id","mount_id")
);
--> statement-breakpoint
CREATE TABLE "mount_node" (
	"node_id" integer NOT NULL,
	"mount_id" integer NOT NULL,
	CONSTRAINT "mount_node_node_id_mount_id_pk" PRIMARY KEY("node_id","mount_id")
);
--> statement-breakpoint
CREATE TABLE "mount_server" (
	"server_id" integer NOT NULL,
	"mount_id" integer NOT NULL,
	CONSTRAINT "mount_server_server_id_mount_id_pk" PRIMARY KEY("server_id","mount_id")
);
--> statement-breakpoint
CREATE TABLE "mounts" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "mounts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"uuid" uuid DEFAULT gen_random_uuid() NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"source" text NOT NULL,
	"target" text NOT NULL,
	"read_only" boolean DEFAULT true NOT NULL,
	"user_mountable" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "mounts_uuid_unique" UNIQUE("uuid"),
	CONSTRAINT "mounts_name_length" CHECK (length("mounts"."name") between 1 and 191),
	CONSTRAINT "mounts_source_length" CHECK (length("mounts"."source") between 1 and 191),
	CONSTRAINT "mounts_target_length" CHECK (length("mounts"."target") between 1 and 191)
);
--> statement-breakpoint
ALTER TABLE "egg_mount" ADD CONSTRAINT "egg_mount_egg_id_eggs_id_fk" FOREIGN KEY ("egg_id") REFERENCES "public"."eggs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "egg_mount" ADD CONSTRAINT "egg_mount_mount_id_mounts_id_fk" FOREIGN KEY ("mount_id") REFERENCES "public"."mounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mount_node" ADD CONSTRAINT "mount_node_node_id_nodes_id_fk" FOREIGN KEY ("node_id") REFERENCES "public"."nodes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mount_node" ADD CONSTRAINT "mount_node_mount_id_mounts_id_fk" FOREIGN KEY ("mount_id") REFERENCES "public"."mounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mount_server" ADD CONSTRAINT "mount_server_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mount_server" ADD CONSTRAINT "mount_server_mount_id_mounts_id_fk" FOREIGN KEY ("mount_id") REFERENCES "public"."mounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "egg_mount_mount_id_index" ON "egg_mount" USING btree ("mount_id");--> statement-breakpoint
CREATE INDEX "mount_node_mount_id_index" ON "mount_node" USING btree ("mount_id");--> statement-breakpoint
CREATE INDEX "mount_server_mount_id_index" ON "mount_server" USING btree ("mount_id");--> statement-breakpoint
CREATE UNIQUE INDEX "mounts_name_index" ON "mounts" USING btree (lower("name"));