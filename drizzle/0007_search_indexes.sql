CREATE INDEX IF NOT EXISTS "allocations_address_index" ON "allocations" USING btree ("ip","port","server_id") WHERE "allocations"."server_id" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "allocations_port_index" ON "allocations" USING btree ("port","server_id") WHERE "allocations"."server_id" is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "api_keys_application_index" ON "api_keys" USING btree ("id") WHERE "api_keys"."type" = 'application';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "jobs_name_finished_at_index" ON "jobs" USING btree ("name","finished_at");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "nodes_memory_id_index" ON "nodes" USING btree ("memory","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "nodes_disk_id_index" ON "nodes" USING btree ("disk","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "nodes_search_index" ON "nodes" USING gin ("name" gin_trgm_ops,"fqdn" gin_trgm_ops,"daemon_token_id" gin_trgm_ops,("uuid"::text) gin_trgm_ops);--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "servers_search_index" ON "servers" USING gin ("external_id" gin_trgm_ops,"description" gin_trgm_ops,"image" gin_trgm_ops,("uuid"::text) gin_trgm_ops);--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "users_search_index" ON "users" USING gin ("email" gin_trgm_ops,"username" gin_trgm_ops,"external_id" gin_trgm_ops,("uuid"::text) gin_trgm_ops);