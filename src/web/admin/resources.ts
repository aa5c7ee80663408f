import type { PanelActivityResource } from '../../surfaces/application/resources/activity-log.ts'
import type { AllocationResource } from '../../surfaces/application/resources/allocation.ts'
import type { AnnouncementResource } from '../../surfaces/application/resources/announcement.ts'
import type { ApplicationKeyResource } from '../../surfaces/application/resources/application-key.ts'
import type {
  BulkOperationResource,
  BulkSummaryResource,
} from '../../surfaces/application/resources/bulk-operation.ts'
import type { DatabaseHostResource } from '../../surfaces/application/resources/database-host.ts'
import type { DatabaseResource } from '../../surfaces/application/resources/database.ts'
import type { AccentResource, LogoResource } from '../../surfaces/application/resources/appearance.ts'
import type { EggDifferenceResource } from '../../surfaces/application/resources/egg-difference.ts'
import type { EggVariableResource } from '../../surfaces/application/resources/egg-variable.ts'
import type { EggResource } from '../../surfaces/application/resources/egg.ts'
import type { JobResource } from '../../surfaces/application/resources/job.ts'
import type { LocationCapacityResource } from '../../surfaces/application/resources/location-capacity.ts'
import type { LocationResource } from '../../surfaces/application/resources/location.ts'
import type { MountResource } from '../../surfaces/application/resources/mount.ts'
import type { MoveInResource } from '../../surfaces/application/resources/move-in.ts'
import type { NestResource } from '../../surfaces/application/resources/nest.ts'
import type { NodeDoctorResource } from '../../surfaces/application/resources/node-doctor.ts'
import type { NodeHeartbeatResource } from '../../surfaces/application/resources/node-heartbeat.ts'
import type { NodePlacementResource } from '../../surfaces/application/resources/node-placement.ts'
import type { NodeResource } from '../../surfaces/application/resources/node.ts'
import type { OverviewResource } from '../../surfaces/application/resources/overview.ts'
import type { RoleResource } from '../../surfaces/application/resources/role.ts'
import type { ServerNotesResource } from '../../surfaces/application/resources/server-notes.ts'
import type { ServerStateResource } from '../../surfaces/application/resources/server-state.ts'
import type { ServerTransferResource } from '../../surfaces/application/resources/server-transfer.ts'
import type { ServerVariableResource } from '../../surfaces/application/resources/server-variable.ts'
import type { ServerResource } from '../../surfaces/application/resources/server.ts'
import type { SettingTestResource } from '../../surfaces/application/resources/setting-test.ts'
import type { SetupResource } from '../../surfaces/application/resources/setup.ts'
import type {
  NodeStatisticsResource,
  ServerStatisticsResource,
} from '../../surfaces/application/resources/statistics.ts'
import type { UserResource } from '../../surfaces/application/resources/user.ts'
import type { AttributesOf, Item, List, PageOf } from '../api/resources.ts'

export type { Item, List, PageOf }

/** A related resource; its attributes are null when the caller may not read it. */
type Related<Attributes> = { attributes: Attributes | null }
/** Related resources; without rows when the caller may not read them. */
type RelatedList<Attributes> = { data?: { attributes: Attributes }[] | undefined }
type With<Resource, Relationships> = Resource & { relationships?: Partial<Relationships> }

export type Allocation = With<AttributesOf<typeof AllocationResource>, { server: Related<Server> }>
export type Announcement = With<
  AttributesOf<typeof AnnouncementResource>,
  { author: Related<User>; locations: RelatedList<Location>; nodes: RelatedList<Node> }
>
export type Location = With<
  AttributesOf<typeof LocationResource>,
  { nodes: RelatedList<Node>; servers: RelatedList<Server> }
>
export type Node = With<
  AttributesOf<typeof NodeResource>,
  { location: Related<Location>; servers: RelatedList<Server>; heartbeat: Related<Heartbeat> }
>
export type Heartbeat = AttributesOf<typeof NodeHeartbeatResource>
export type LocationCapacity = AttributesOf<typeof LocationCapacityResource>
export type NodePlacement = AttributesOf<typeof NodePlacementResource>
export type NodeDoctor = AttributesOf<typeof NodeDoctorResource>
export type NodeStatistics = AttributesOf<typeof NodeStatisticsResource>
export type ServerStatistics = AttributesOf<typeof ServerStatisticsResource>
export type SettingTest = AttributesOf<typeof SettingTestResource>
export type MoveIn = AttributesOf<typeof MoveInResource>
export type Overview = AttributesOf<typeof OverviewResource>
export type Setup = AttributesOf<typeof SetupResource>
export type Job = AttributesOf<typeof JobResource>
export type ApplicationKey = AttributesOf<typeof ApplicationKeyResource>
export type PanelActivity = AttributesOf<typeof PanelActivityResource>
export type Role = With<AttributesOf<typeof RoleResource>, { users: RelatedList<User> }>
export type User = With<
  AttributesOf<typeof UserResource>,
  { servers: RelatedList<Server>; role: Related<AttributesOf<typeof RoleResource>> }
> & { meta?: { role_id?: number; sign_in_suspended_at?: string } }
export type Accent = AttributesOf<typeof AccentResource>
export type Logo = AttributesOf<typeof LogoResource>
export type EggDifference = AttributesOf<typeof EggDifferenceResource>
export type EggVariable = AttributesOf<typeof EggVariableResource>
export type Egg = With<
  AttributesOf<typeof EggResource>,
  { nest: Related<Nest>; variables: RelatedList<EggVariable>; servers: RelatedList<Server> }
>
export type Nest = With<
  AttributesOf<typeof NestResource>,
  { eggs: RelatedList<Egg>; servers: RelatedList<Server> }
>
export type Mount = With<
  AttributesOf<typeof MountResource>,
  { eggs: RelatedList<Egg>; nodes: RelatedList<Node>; servers: RelatedList<Server> }
>
export type DatabaseHost = AttributesOf<typeof DatabaseHostResource>
export type Database = With<AttributesOf<typeof DatabaseResource>, { host: Related<DatabaseHost> }>
export type ServerNotes = AttributesOf<typeof ServerNotesResource>
export type ServerVariable = AttributesOf<typeof ServerVariableResource>
export type Transfer = AttributesOf<typeof ServerTransferResource>
export type Server = With<
  AttributesOf<typeof ServerResource>,
  {
    user: Related<User>
    node: Related<Node>
    egg: Related<Egg>
    location: Related<Location>
    allocations: RelatedList<Allocation>
    variables: RelatedList<ServerVariable>
    databases: RelatedList<Database>
    state: Related<AttributesOf<typeof ServerStateResource>>
  }
>
export type BulkOperation = AttributesOf<typeof BulkOperationResource>
export type BulkSummary = AttributesOf<typeof BulkSummaryResource>

/** Returns the related rows; none when the caller may not read them. */
export const relatedRows = <Attributes>(relation: RelatedList<Attributes> | undefined): Attributes[] =>
  (relation?.data ?? []).map(({ attributes }) => attributes)
