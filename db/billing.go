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

// BillingPatch holds the fields of a billing record that are to be written; nil keeps a field.
type BillingPatch struct {
	BillingName, BusinessID, TaxID, AddressLine1, AddressLine2, City, State, ZipCode, CountryCode *string
}

// Keeps tells whether a record has all that the patch gives it.
func (p BillingPatch) Keeps(b *Billing) bool {
	has := func(given *string, there string) bool { return given == nil || *given == there }
	return has(p.BillingName, b.BillingName) && has(p.BusinessID, b.BusinessID) && has(p.TaxID, b.TaxID) && has(p.AddressLine1, b.AddressLine1) &&
		has(p.AddressLine2, b.AddressLine2) && has(p.City, b.City) && has(p.State, b.State) && has(p.ZipCode, b.ZipCode) && has(p.CountryCode, b.CountryCode)
}

var billingColumns = columns[Billing]("b")

var (
	qBilling = prepare(`
		SELECT ` + billingColumns + eachByID("customers", "c") + `JOIN billing b ON b.customer_id = c.id WHERE ` + withinScope)
	qSaveBilling = prepare(`
		INSERT INTO billing AS b (customer_id, billing_name, business_id, tax_id, address_line1, address_line2, city, state, zip_code, country_code)
		SELECT c.id, COALESCE($4, ''), COALESCE($5, ''), COALESCE($6, ''), COALESCE($7, ''), COALESCE($8, ''),
			COALESCE($9, ''), COALESCE($10, ''), COALESCE($11, ''), COALESCE($12, '')
		FROM customers c WHERE c.id = $3 AND ` + withinScope + `
		ON CONFLICT (customer_id) DO UPDATE SET
			billing_name = COALESCE($4, b.billing_name), business_id = COALESCE($5, b.business_id), tax_id = COALESCE($6, b.tax_id),
			address_line1 = COALESCE($7, b.address_line1), address_line2 = COALESCE($8, b.address_line2), city = COALESCE($9, b.city),
			state = COALESCE($10, b.state), zip_code = COALESCE($11, b.zip_code), country_code = COALESCE($12, b.country_code)
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

// SaveBilling makes a company's billing record, or writes the given fields of the one it has.
func (s *Store) SaveBilling(ctx context.Context, scope access.Scope, customerID int64, p BillingPatch) (*Billing, error) {
	b := &Billing{}
	err := s.get(ctx, b, qSaveBilling, scope.From(), scope.To(), customerID, p.BillingName, p.BusinessID, p.TaxID,
		p.AddressLine1, p.AddressLine2, p.City, p.State, p.ZipCode, p.CountryCode)
	return b, err
}
