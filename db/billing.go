package db

import (
	"context"
	"time"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// Billing is a company's billing record.
type Billing struct {
	CustomerID   int64     `db:"customer_id"`
	LocationID   int64     `db:"location_id"`
	BillingName  string    `db:"billing_name" audit:"billingName"`
	BusinessID   string    `db:"business_id" audit:"businessId"`
	TaxID        string    `db:"tax_id" audit:"taxId"`
	AddressLine1 string    `db:"address_line1" audit:"addressLine1"`
	AddressLine2 string    `db:"address_line2" audit:"addressLine2"`
	City         string    `db:"city" audit:"city"`
	State        string    `db:"state" audit:"state"`
	ZipCode      string    `db:"zip_code" audit:"zipCode"`
	CountryCode  string    `db:"country_code" audit:"countryCode"`
	CreatedAt    time.Time `db:"created_at"`
	Version      int       `db:"row_version"`
}

// GlobalID is the node id of the record, that of its company under a type of its own.
func (b *Billing) GlobalID() globalid.ID { return globalid.ID{Type: "Billing", Int: b.CustomerID} }

var billingColumns = columns[Billing]("b")

var (
	qBilling = prepare(`
		SELECT ` + billingColumns + eachByID("customers", "c") + `JOIN billing b ON b.customer_id = c.id WHERE ` + withinScope)
	qSaveBilling = prepare(`
		INSERT INTO billing AS b (customer_id, billing_name, business_id, tax_id, address_line1, address_line2, city, state, zip_code, country_code)
		SELECT c.id, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM customers c WHERE c.id = $3 AND ` + withinScope + `
		ON CONFLICT (customer_id) DO UPDATE SET
			billing_name = $4, business_id = $5, tax_id = $6, address_line1 = $7, address_line2 = $8, city = $9, state = $10, zip_code = $11, country_code = $12
		RETURNING ` + billingColumns)
)

var customerBilling = edgeBy((*Customer).key, billingOf)

func billingOf(ctx context.Context, s *Store, scope access.Scope, ids []int64) (map[int64]*Billing, error) {
	var rows []*Billing
	err := s.list(ctx, &rows, qBilling, scope.From(), scope.To(), ids)
	return index(rows, func(b *Billing) int64 { return b.CustomerID }), err
}

// Billing is the edge from a company to its billing record; nil before there is any.
func (c *Customer) Billing(ctx context.Context, s *Store, scope access.Scope) (*Billing, error) {
	return follow(ctx, s, c, customerBilling, scope)
}

// SaveBilling makes the billing record of b's company, or writes all fields of the one it has, and gives what stands then.
func (s *Store) SaveBilling(ctx context.Context, scope access.Scope, b *Billing) (*Billing, error) {
	saved := &Billing{}
	err := s.get(ctx, saved, qSaveBilling, scope.From(), scope.To(), b.CustomerID, b.BillingName, b.BusinessID, b.TaxID,
		b.AddressLine1, b.AddressLine2, b.City, b.State, b.ZipCode, b.CountryCode)
	return saved, err
}
