package db

import (
	"context"
	"time"

	"canopy/internal/globalid"
)

// Region is a place where companies' data lives.
type Region struct {
	ID          int64     `db:"id"`
	Code        string    `db:"code"`
	Name        string    `db:"name"`
	Description string    `db:"description"`
	CreatedAt   time.Time `db:"created_at"`
}

// GlobalID is the node id of the region.
func (r *Region) GlobalID() globalid.ID { return globalid.ID{Type: "Region", Int: r.ID} }

// Application is one of the platform's products.
type Application struct {
	ID          int64     `db:"id"`
	Code        string    `db:"code"`
	Name        string    `db:"name"`
	Description string    `db:"description"`
	AppType     int       `db:"app_type"`
	AuthURL     string    `db:"auth_url"`
	CreatedAt   time.Time `db:"created_at"`
}

// GlobalID is the node id of the application.
func (a *Application) GlobalID() globalid.ID { return globalid.ID{Type: "Application", Int: a.ID} }

var (
	regionColumns      = columns[Region]("r")
	applicationColumns = columns[Application]("a")
)

var (
	qRegions          = prepare(`SELECT ` + regionColumns + ` FROM regions r ORDER BY r.id`)
	qRegionsByID      = prepare(`SELECT ` + regionColumns + ` FROM regions r WHERE r.id = ANY($1)`)
	qAvailableRegions = prepare(`
		SELECT ` + regionColumns + ` FROM regions r
		WHERE (SELECT count(*) FROM app_instances i JOIN applications a ON a.id = i.application_id
		       WHERE i.region_id = r.id AND i.active AND i.available AND a.code IN ('assistant', 'builder')) = 2
		ORDER BY id`)
	qApplications     = prepare(`SELECT ` + applicationColumns + ` FROM applications a ORDER BY a.id`)
	qApplicationsByID = prepare(`SELECT ` + applicationColumns + ` FROM applications a WHERE a.id = ANY($1)`)
	qInstances        = prepare(`
		SELECT i.id, a.code FROM app_instances i JOIN applications a ON a.id = i.application_id
		WHERE i.region_id = $1 AND i.active AND i.available`)
	qPutRegion = prepare(`
		INSERT INTO regions (code, name, description) VALUES ($1, $2, $3)
		ON CONFLICT (code) DO UPDATE SET code = EXCLUDED.code RETURNING id`)
	qPutApplication = prepare(`
		INSERT INTO applications (id, code, name, description, app_type, auth_url)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (code) DO NOTHING`)
	qPutInstance = prepare(`
		INSERT INTO app_instances (application_id, region_id, domain, available) VALUES ($1, $2, $3, $4)
		ON CONFLICT (application_id, region_id) DO NOTHING`)
	qPutAddress = prepare(`
		WITH applied AS (UPDATE applications SET auth_url = $1 WHERE auth_url <> $1)
		UPDATE app_instances SET domain = $1 WHERE domain <> $1`)
)

// Regions lists every region.
func (s *Store) Regions(ctx context.Context) (rows []*Region, err error) {
	err = s.list(ctx, &rows, qRegions)
	return rows, err
}

// AvailableRegions lists the regions where both the builder and the assistant take new companies.
func (s *Store) AvailableRegions(ctx context.Context) (rows []*Region, err error) {
	err = s.list(ctx, &rows, qAvailableRegions)
	return rows, err
}

// Region reads one region; ErrNoRows when there is none of that id.
func (s *Store) Region(ctx context.Context, id int64) (*Region, error) {
	return one(ctx, s, regionsByID, none{}, id)
}

func regionsByID(ctx context.Context, s *Store, _ none, ids []int64) (map[int64]*Region, error) {
	var rows []*Region
	err := s.list(ctx, &rows, qRegionsByID, ids)
	return index(rows, func(r *Region) int64 { return r.ID }), err
}

// Applications lists the platform's applications.
func (s *Store) Applications(ctx context.Context) (rows []*Application, err error) {
	err = s.list(ctx, &rows, qApplications)
	return rows, err
}

// Application reads one application; ErrNoRows when there is none of that id.
func (s *Store) Application(ctx context.Context, id int64) (*Application, error) {
	return one(ctx, s, applicationsByID, none{}, id)
}

func applicationsByID(ctx context.Context, s *Store, _ none, ids []int64) (map[int64]*Application, error) {
	var rows []*Application
	err := s.list(ctx, &rows, qApplicationsByID, ids)
	return index(rows, func(a *Application) int64 { return a.ID }), err
}

// InstancesIn gives the instances of a region that take new companies, by application code.
func (s *Store) InstancesIn(ctx context.Context, regionID int64) (map[string]int64, error) {
	var rows []struct {
		ID   int64  `db:"id"`
		Code string `db:"code"`
	}
	err := s.list(ctx, &rows, qInstances, regionID)
	found := make(map[string]int64, len(rows))
	for _, r := range rows {
		found[r.Code] = r.ID
	}
	return found, err
}

// PutRegion makes the region of a code if it is not there, and gives its id.
func (s *Store) PutRegion(ctx context.Context, r Region) (id int64, err error) {
	err = s.get(ctx, &id, qPutRegion, r.Code, r.Name, r.Description)
	return id, err
}

// PutApplication makes an application if it is not there.
func (s *Store) PutApplication(ctx context.Context, a Application) error {
	_, err := s.exec(ctx, qPutApplication, a.ID, a.Code, a.Name, a.Description, a.AppType, a.AuthURL)
	return err
}

// PutInstance lets an application run in a region, if it does not yet.
func (s *Store) PutInstance(ctx context.Context, applicationID, regionID int64, domain string, available bool) error {
	_, err := s.exec(ctx, qPutInstance, applicationID, regionID, domain, available)
	return err
}

// PutAddress has the applications be where the platform is reached now. What a region's cell serves is shown at the cell's address all the same.
func (s *Store) PutAddress(ctx context.Context, url string) error {
	_, err := s.exec(ctx, qPutAddress, url)
	return err
}
