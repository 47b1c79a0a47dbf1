package db

import "canopy/internal/access"

// A limb is a part of the tree that hangs together: a company of the first levels alone, or one of the fourth with all below it. What knows
// its limb is found in a scope by the limbs there, which are few however many companies they have. Triggers keep all of it.

// limbsInScope are the limbs l that have companies of a scope, whose bounds are $1 and $2: those that begin in it, and the one that
// its top is of, which may have others, too.
const limbsInScope = `(SELECT l.id FROM limbs l WHERE l.lineage >= $1::bigint[] AND l.lineage < $2::bigint[]
	UNION SELECT limb_of($1::bigint[])) l`

// levelsOfLimbs is how many levels of the tree limbs begin in.
const levelsOfLimbs = 4

// inLimb tells whether a scope is a part of one limb: others have rows there that are passed over.
func inLimb(scope access.Scope) bool { return len(scope.From()) > levelsOfLimbs }
