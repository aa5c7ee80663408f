CREATE INDEX "nodes_name_order_index" ON "nodes" USING btree (lower("name"),"id");--> statement-breakpoint
CREATE INDEX "server_states_state_index" ON "server_states" USING btree ("state","server_id");--> statement-breakpoint
CREATE INDEX "servers_egg_id_id_index" ON "servers" USING btree ("egg_id","id");--> statement-breakpoint
CREATE INDEX "servers_name_order_index" ON "servers" USING btree (lower("name"),"id");--> statement-breakpoint
CREATE INDEX "servers_memory_id_index" ON "servers" USING btree ("memory","id");