package doctor

import (
	"context"

	"canopy/db/pgvector"
)

// vectors looks at the database of vectors. That it can't be used is a fault, though searches go on without it: whoever sets it needs it.
func (v *Visit) vectors(ctx context.Context) {
	if v.cfg.VectorURL == "" {
		return
	}
	const check = "vectors"
	store, err := pgvector.Open(v.cfg.VectorURL, 1)
	if err != nil {
		v.found(check, Fault, "", "%v", err)
		return
	}
	defer func() { _ = store.Close() }()
	s, err := store.Examine(ctx)
	switch {
	case err != nil:
		v.found(check, Fault, "start it, or correct CANOPY_VECTOR_URL; until then all vectors are compared in memory", "it does not answer: %v", err)
	case s.Standby:
		v.found(check, Fault, "name a server that takes writes", "it takes no writes")
	case s.Installed == "" && s.Available == "":
		v.found(check, Fault, "install pgvector, as by Debian's package postgresql-NN-pgvector", "version %s has no pgvector", s.Version)
	case s.Installed != "" && !pgvector.Fit(s.Installed):
		v.found(check, Fault, "install a newer one, then ALTER EXTENSION vector UPDATE", "pgvector is of version %s: 0.8 or newer is needed", s.Installed)
	case s.Installed == "" && !pgvector.Fit(s.Available):
		v.found(check, Fault, "install a newer one", "pgvector is of version %s: 0.8 or newer is needed", s.Available)
	case !s.Create:
		v.found(check, Fault, "GRANT CREATE ON DATABASE … TO the role of CANOPY_VECTOR_URL", "the role may not make the schema canopy_vectors")
	case s.Installed == "":
		v.ok(check, "version %s has pgvector %s, which the first worker installs", s.Version, s.Available)
	default:
		v.ok(check, "version %s with pgvector %s", s.Version, s.Installed)
	}
}
