ALTER TABLE "servers" DROP CONSTRAINT "servers_external_id_length";--> statement-breakpoint
ALTER TABLE "users" DROP CONSTRAINT "users_external_id_length";--> statement-breakpoint
ALTER TABLE "servers" ADD CONSTRAINT "servers_external_id_length" CHECK (length("servers"."external_id") between 1 and 255);--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_external_id_length" CHECK (length("users"."external_id") between 1 and 255);