package resolvers

import (
	"context"
	"slices"
	"strings"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// Billing gives the billing record of a company within reach; a 404 before there is any.
func (q Query) Billing(ctx context.Context, id *globalid.ID) (*db.Billing, error) {
	c, err := q.may(ctx, rule.CustomerBilling)
	if err != nil {
		return nil, err
	}
	customer, err := q.customer(ctx, c, id, "cid")
	if err != nil {
		return nil, err
	}
	record, err := customer.Billing(ctx, q.Store, c.Scope())
	if err == nil && record == nil {
		err = problem.Missing("the company %d has no billing record yet", customer.ID)
	}
	return record, err
}

// SaveBillingInput is a billing record; nil keeps a field.
type SaveBillingInput struct {
	CustomerID                                                                                    *globalid.ID
	BillingName, BusinessID, TaxID, AddressLine1, AddressLine2, City, State, ZipCode, CountryCode *string
	IfVersion                                                                                     *int
	// MustExist: a record is changed, and none is made.
	MustExist bool
}

// SaveBillingPayload is what SaveBilling wrote.
type SaveBillingPayload struct{ Billing *db.Billing }

// SaveBilling makes a company's billing record, or writes the given fields of the one it has.
func (m Mutation) SaveBilling(ctx context.Context, in SaveBillingInput) (*SaveBillingPayload, error) {
	c, err := m.may(ctx, rule.SaveBilling)
	if err != nil {
		return nil, err
	}
	var v check
	v.optional("billingName", in.BillingName)
	v.optional("businessId", in.BusinessID)
	v.optional("taxId", in.TaxID)
	v.optional("addressLine1", in.AddressLine1)
	v.optional("addressLine2", in.AddressLine2)
	v.optional("city", in.City)
	v.optional("state", in.State)
	v.optional("zipCode", in.ZipCode)
	v.country("countryCode", in.CountryCode)
	if err := v.err(); err != nil {
		return nil, err
	}
	customer, err := m.customer(ctx, c, in.CustomerID, "customerId")
	if err != nil {
		return nil, err
	}
	out := &SaveBillingPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		// The company is held, so that nobody else makes or changes its record meanwhile.
		held, err := tx.CustomerForUpdate(ctx, c.Scope(), customer.ID)
		if err != nil {
			return c.unreached(err, "company", customer.ID)
		}
		before, err := held.Billing(ctx, tx, c.Scope())
		if err != nil {
			return err
		}
		if before == nil && in.MustExist {
			return problem.Changed("ifVersion", "there is no billing record yet")
		}
		version := 0 // of none
		if before != nil {
			version = before.Version
		}
		if err := unchanged(version, in.IfVersion); err != nil {
			return err
		}
		next := billed(customer.ID, before, in)
		if out.Billing = before; before != nil && same(before, next) {
			return nil
		}
		if out.Billing, err = tx.SaveBilling(ctx, c.Scope(), next); err != nil {
			return c.unreached(err, "company", customer.ID)
		}
		return ch.audit(customer.ID, audit.BillingSaved, out.Billing, audit.Between(before, out.Billing))
	})
	return out, err
}

// billed is a company's record, nil for none yet, with what is given.
func billed(customerID int64, before *db.Billing, in SaveBillingInput) *db.Billing {
	next := db.Billing{CustomerID: customerID}
	if before != nil {
		next = *before
	}
	next.BillingName = or(in.BillingName, next.BillingName)
	next.BusinessID = or(in.BusinessID, next.BusinessID)
	next.TaxID = or(in.TaxID, next.TaxID)
	next.AddressLine1 = or(in.AddressLine1, next.AddressLine1)
	next.AddressLine2 = or(in.AddressLine2, next.AddressLine2)
	next.City = or(in.City, next.City)
	next.State = or(in.State, next.State)
	next.ZipCode = or(in.ZipCode, next.ZipCode)
	next.CountryCode = or(in.CountryCode, next.CountryCode)
	return &next
}

// countries are the officially assigned codes of ISO 3166-1 alpha-2.
var countries = strings.Fields(`
	AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
	CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
	GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
	KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT
	MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
	SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
	UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`)

// country checks a country code; the empty one says that there is none.
func (v *check) country(field string, code *string) {
	if code == nil || *code == "" {
		return
	}
	if _, known := slices.BinarySearch(countries, *code); !known {
		v.fault(field, "is not a country code of ISO 3166-1 alpha-2, such as DE")
	}
}
