package access

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestApps(t *testing.T) {
	for _, app := range Apps() {
		if got, ok := ParseApp(app.String()); !ok || got != app {
			t.Errorf("%s is read as %v, %v", app, got, ok)
		}
	}
	for _, s := range []string{"", "Tenant", "tenant ", "platform"} {
		if app, ok := ParseApp(s); ok {
			t.Errorf("%q is read as %s", s, app)
		}
	}
}

func TestFeaturesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := Features(rapid.Uint32Range(0, uint32(AllFeatures)).Draw(t, "set"))
		names := set.Names()
		if got := ParseFeatures(names); got != set {
			t.Fatalf("%v is read as %b, not %b", names, got, set)
		}
		slices.Reverse(names)
		if got := ParseFeatures(append(names, "unknown.read", "")); got != set {
			t.Fatalf("their order or an unknown name counts: %b, not %b", got, set)
		}
	})
}

func TestHas(t *testing.T) {
	for name, c := range map[string]struct {
		set, f Features
		want   bool
	}{
		"nothing asked":   {0, 0, true},
		"what it has":     {CompanyRead | UserRead, UserRead, true},
		"what it lacks":   {CompanyRead, UserRead, false},
		"one of two":      {CompanyRead, CompanyRead | UserRead, false},
		"nothing granted": {0, CompanyRead, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.set.Has(c.f); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestSystemRoles spells the roles out: a right that moves from one to another shows here.
func TestSystemRoles(t *testing.T) {
	viewer := []string{"company.read", "billing.read", "user.read", "permission.read", "context.read", "agent.read", "webhook.read"}
	if got := ViewerFeatures.Names(); !slices.Equal(got, viewer) {
		t.Errorf("a viewer has %v", got)
	}
	if extra := (MemberFeatures &^ ViewerFeatures).Names(); !slices.Equal(extra, []string{"context.write", "agent.run"}) || !MemberFeatures.Has(ViewerFeatures) {
		t.Errorf("a member has %v beyond a viewer", extra)
	}
	if got := AllFeatures.Names(); !slices.Equal(got, FeatureNames()) {
		t.Errorf("all rights are %v, not %v", got, FeatureNames())
	}
}

func TestFeatureNamesAreACopy(t *testing.T) {
	FeatureNames()[0] = "x"
	if _, ok := ParseFeature("company.read"); !ok {
		t.Error("a caller can change the names")
	}
}

func TestPrincipal(t *testing.T) {
	root, below := &Principal{Lineage: Lineage{1}, KeyID: 7}, &Principal{Lineage: Lineage{1, 2}, Expires: time.Now()}
	if !root.IsRoot() || below.IsRoot() || (&Principal{}).IsRoot() {
		t.Error("only a lineage of one is the root's")
	}
	if root.Login() || !below.Login() {
		t.Error("a login has no key")
	}
	if !holds(root.Scope(), below.Lineage) || holds(below.Scope(), root.Lineage) {
		t.Error("reach goes down only")
	}
	if holds((&Principal{}).Scope(), Lineage{1}) {
		t.Error("who has no lineage reaches something")
	}
}

func TestPrincipalOf(t *testing.T) {
	if PrincipalOf(t.Context()) != nil {
		t.Error("a bare context has a caller")
	}
	p := &Principal{UserID: 7}
	if PrincipalOf(WithPrincipal(t.Context(), p)) != p {
		t.Error("the caller is lost")
	}
}
