package db

import (
	"strconv"

	"canopy/internal/access"
)

// A limb is a part of the tree that hangs together: a company of the first levels alone, or one of the fourth with all below it. What knows
// its limb is found in a scope by the limbs there, which are few however many companies they have. Triggers keep all of it.

// limbsInScope are the limbs l that have companies of a scope, whose bounds are $1 and $2: those that begin in it, and the one that
// its top is of, which may have others, too.
const limbsInScope = `(SELECT l.id FROM limbs l WHERE l.lineage >= $1::bigint[] AND l.lineage < $2::bigint[]
	UNION ALL SELECT l.id FROM limbs l WHERE l.id = limb_of($1::bigint[]) AND l.lineage < $1::bigint[]) l`

// limbsOfLogs are those in which the rows of logs of a scope were written, which stay in the limb that their company was of then.
const limbsOfLogs = `(SELECT DISTINCT x.id FROM (SELECT l.id || l.was AS ids FROM limbs l WHERE l.lineage >= $1::bigint[] AND l.lineage < $2::bigint[]
	UNION ALL SELECT l.id || l.was FROM limbs l WHERE l.id = limb_of($1::bigint[])) l CROSS JOIN unnest(l.ids) x(id)) l`

// limbsUpTo are what stands before words of a scope in an index that has them behind their limbs: limb of v, which is each of the
// limbs, or nothing where there are more than some, as the words alone are then looked for sooner.
func limbsUpTo(most int) string {
	return `unnest((SELECT CASE WHEN count(*) > ` + strconv.Itoa(most) + ` THEN '{""}' ELSE array_agg(l.id || ':') END
		FROM (SELECT l.id FROM ` + limbsInScope + ` LIMIT (SELECT ` + strconv.Itoa(most+1) + `)) l)) v(limb)`
}

// For how many limbs one query is asked, and for how many each of the hundreds that look for a word within one edit.
const limbsOfQuery, limbsOfQueries = 200, 4

// levelsOfLimbs is how many levels of the tree limbs begin in.
const levelsOfLimbs = 4

// inLimb tells whether a scope is a part of one limb: others have rows there that are passed over.
func inLimb(scope access.Scope) bool { return len(scope.From()) > levelsOfLimbs }
