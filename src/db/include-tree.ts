import { findRelation, type Kind, type Relation, requiredPaths } from './relations.ts'

/** A relation that a statement reads, with the relations of its rows. */
export type Branch = {
  relation: Relation
  /** Whether an answer shows the rows; else only their keys are needed. */
  isShown: boolean
  branches: Branches
}
export type Branches = Map<string, Branch>

type Step = { name: string; isShown: boolean }

/** Builds the tree of the relations that rows of a kind need for these paths, such as `servers.user`. */
export function includeTree(kind: Kind, paths: readonly string[]): Branches {
  const branches = requiredBranches(kind)
  for (const path of paths) {
    addSteps(
      kind,
      branches,
      path.split('.').map((name) => ({ name, isShown: true })),
    )
  }
  return branches
}

function requiredBranches(kind: Kind): Branches {
  const branches: Branches = new Map()
  for (const path of requiredPaths[kind] ?? []) {
    addSteps(
      kind,
      branches,
      path.map((name) => ({ name, isShown: false })),
    )
  }
  return branches
}

/** Adds the relations of a path; unknown names end it. */
function addSteps(kind: Kind, branches: Branches, [step, ...rest]: Step[]): void {
  const relation = step && findRelation(kind, step.name)
  if (!relation) return
  if (relation.via) {
    const [first, second] = relation.via
    const steps = [{ name: first, isShown: false }, { ...step, name: second }, ...rest]
    return addSteps(kind, branches, steps)
  }
  const branch = branches.get(step.name) ?? {
    relation,
    isShown: false,
    branches: requiredBranches(relation.to),
  }
  branches.set(step.name, branch)
  branch.isShown ||= step.isShown
  addSteps(relation.to, branch.branches, rest)
}
