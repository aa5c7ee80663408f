CREATE TABLE "moved_rows" (
	"table_name" text NOT NULL,
	"key" text NOT NULL,
	"digest" text NOT NULL,
	CONSTRAINT "moved_rows_table_name_key_pk" PRIMARY KEY("table_name","key")
);
--> statement-breakpoint
ALTER TABLE "allocations" DROP CONSTRAINT "allocations_ip_alias_length";--> statement-breakpoint
ALTER TABLE "api_keys" DROP CONSTRAINT "api_keys_allowed_ips";--> statement-breakpoint
ALTER TABLE "api_keys" DROP CONSTRAINT "api_keys_description_length";--> statement-breakpoint
ALTER TABLE "databases" DROP CONSTRAINT "databases_database_length";--> statement-breakpoint
ALTER TABLE "locations" DROP CONSTRAINT "locations_short_length";--> statement-breakpoint
ALTER TABLE "locations" DROP CONSTRAINT "locations_long_length";--> statement-breakpoint
ALTER TABLE "roles" DROP CONSTRAINT "roles_name_length";--> statement-breakpoint
ALTER TABLE "servers" DROP CONSTRAINT "servers_uuid_short";--> statement-breakpoint
ALTER TABLE "tasks" DROP CONSTRAINT "tasks_time_offset";--> statement-breakpoint
CREATE INDEX "servers_uuid_short_index" ON "servers" USING btree (lower("uuid_short"));--> statement-breakpoint
CREATE INDEX "servers_foreign_short_index" ON "servers" USING btree ("uuid_short") WHERE "servers"."uuid_short" <> left("servers"."uuid"::text, 8);--> statement-breakpoint
ALTER TABLE "allocations" ADD CONSTRAINT "allocations_ip_alias_length" CHECK (length("allocations"."ip_alias") <= 65535);--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_allowed_ips" CHECK (cardinality("api_keys"."allowed_ips") <= 1000);--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_description_length" CHECK (length("api_keys"."description") <= 65535);--> statement-breakpoint
ALTER TABLE "databases" ADD CONSTRAINT "databases_database_length" CHECK (length("databases"."database") <= 64);--> statement-breakpoint
ALTER TABLE "locations" ADD CONSTRAINT "locations_short_length" CHECK (length("locations"."short") between 1 and 191);--> statement-breakpoint
ALTER TABLE "locations" ADD CONSTRAINT "locations_long_length" CHECK (length("locations"."long") between 1 and 65535);--> statement-breakpoint
ALTER TABLE "roles" ADD CONSTRAINT "roles_name_length" CHECK (length("roles"."name") between 1 and 255);--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_time_offset" CHECK ("tasks"."time_offset" between 0 and 2147483647);