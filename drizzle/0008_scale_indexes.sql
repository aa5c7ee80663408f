CREATE INDEX IF NOT EXISTS "activity_ip_index" ON "activity" USING btree ("ip","timestamp","id","server_id","user_id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "allocations_server_id_hash_index" ON "allocations" USING hash ("server_id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "jobs_listed_index" ON "jobs" USING btree ("finished_at" DESC NULLS FIRST,"run_at","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "nodes_id_hash_index" ON "nodes" USING hash ("id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "servers_id_hash_index" ON "servers" USING hash ("id");