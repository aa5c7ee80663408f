CREATE TABLE "bulk_items" (
	"operation_id" integer NOT NULL,
	"server_id" integer NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"error_status" integer,
	"error_code" text,
	"error_detail" text,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "bulk_items_operation_id_server_id_pk" PRIMARY KEY("operation_id","server_id"),
	CONSTRAINT "bulk_items_state" CHECK ("bulk_items"."state" in ('pending', 'running', 'done', 'failed')),
	CONSTRAINT "bulk_items_error" CHECK (("bulk_items"."state" = 'failed') = ("bulk_items"."error_status" is not null))
);
--> statement-breakpoint
CREATE TABLE "bulk_operations" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "bulk_operations_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"action" text NOT NULL,
	"parameters" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"user_id" integer NOT NULL,
	"api_key_id" integer,
	"ip" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "bulk_operations_action" CHECK ("bulk_operations"."action" in ('power', 'suspend', 'unsuspend', 'reinstall', 'transfer', 'delete'))
);
--> statement-breakpoint
ALTER TABLE "bulk_items" ADD CONSTRAINT "bulk_items_operation_id_bulk_operations_id_fk" FOREIGN KEY ("operation_id") REFERENCES "public"."bulk_operations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "bulk_operations_created_at_index" ON "bulk_operations" USING btree ("created_at");