package secret

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestForms(t *testing.T) {
	for _, c := range []struct {
		name, form string
		make       func() string
	}{
		{"API secret", `^cnpy_[0-9A-Za-z]{49}$`, NewAPISecret},
		{"client id", `^cnpyid_[0-9A-Za-z]{20}$`, NewClientID},
		{"signing secret", `^whsec_[0-9A-Za-z+/]{43}=$`, NewSigningSecret},
		{"link token", `^[0-9A-Za-z]{43}$`, NewLinkToken},
	} {
		t.Run(c.name, func(t *testing.T) {
			form, seen := regexp.MustCompile(c.form), map[string]bool{}
			for range 1000 {
				s := c.make()
				if !form.MatchString(s) {
					t.Fatalf("%q is not of the form %s", s, c.form)
				}
				if seen[s] {
					t.Fatalf("%q came twice", s)
				}
				seen[s] = true
			}
		})
	}
}

// Every digit comes at every place about as often as any other: no modulo bias, no short numbers.
func TestRandomDigitsAreEven(t *testing.T) {
	const draws = 20_000
	counts := map[byte]int{}
	for range draws / randomDigits {
		for _, d := range []byte(randomBase62(randomDigits)) {
			counts[d]++
		}
	}
	// The expectation is 322 with a standard deviation of 18: 6 of them are a false alarm in
	// less than one of a million runs.
	for _, d := range []byte(alphabet) {
		if n := counts[d]; n < 215 || n > 430 {
			t.Errorf("the digit %c came %d times of %d", d, n, draws)
		}
	}
}

func TestCheckAPISecret(t *testing.T) {
	good := NewAPISecret()
	if !CheckAPISecret(good) {
		t.Fatalf("a new secret %q does not check", good)
	}
	for name, s := range map[string]string{
		"empty":             "",
		"prefix alone":      "cnpy_",
		"another prefix":    "cnpx_" + good[5:],
		"one digit short":   good[:len(good)-1],
		"one digit long":    good + "0",
		"a space before":    " " + good[:len(good)-1],
		"another alphabet":  good[:10] + "-" + good[11:],
		"a signing secret":  NewSigningSecret(),
		"the checksum of 0": good[:len(good)-6] + "000000",
	} {
		t.Run(name, func(t *testing.T) {
			if CheckAPISecret(s) {
				t.Errorf("%q passes for an API secret", s)
			}
		})
	}
}

// A CRC-32 finds every mistyped digit and every two swapped neighbours: both are bursts of at most
// 16 bits.
func TestChecksumFindsTypingErrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		good := NewAPISecret()
		bad := []byte(good)
		i := rapid.IntRange(len(apiPrefix), len(good)-1).Draw(t, "place")
		if rapid.Bool().Draw(t, "swap") && i+1 < len(bad) {
			bad[i], bad[i+1] = bad[i+1], bad[i]
		} else {
			bad[i] = rapid.SampledFrom([]byte(alphabet)).Draw(t, "digit")
		}
		if CheckAPISecret(string(bad)) != (string(bad) == good) {
			t.Fatalf("%s passes in place of %s", bad, good)
		}
	})
}

func TestIsClientID(t *testing.T) {
	good := NewClientID()
	for s, want := range map[string]bool{
		good: true, "": false, good[:26]: false, good + "x": false, "cnpyid_" + strings.Repeat("!", 20): false,
		NewAPISecret(): false,
	} {
		if IsClientID(s) != want {
			t.Errorf("IsClientID(%q) is not %v", s, want)
		}
	}
}

func TestMatches(t *testing.T) {
	mine, other := NewAPISecret(), NewAPISecret()
	a, b := HashSecret(mine), HashSecret(other)
	for _, c := range []struct {
		name   string
		hashes [][]byte
		want   bool
	}{
		{"none", nil, false},
		{"mine", [][]byte{a[:]}, true},
		{"another's", [][]byte{b[:]}, false},
		{"mine after another's", [][]byte{b[:], a[:]}, true},
		{"mine before another's", [][]byte{a[:], b[:]}, true},
		{"an empty hash", [][]byte{{}}, false},
		{"a cut hash", [][]byte{a[:31]}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if Matches(mine, c.hashes) != c.want {
				t.Errorf("is not %v", c.want)
			}
		})
	}
}

func FuzzCheckAPISecret(f *testing.F) {
	f.Add(NewAPISecret())
	f.Add("cnpy_")
	f.Fuzz(func(t *testing.T, s string) {
		if CheckAPISecret(s) && (len(s) != 54 || s != s[:48]+checksum(s[:48])) {
			t.Errorf("%q passes", s)
		}
	})
}

func BenchmarkHashSecret(b *testing.B) {
	s := NewAPISecret()
	for b.Loop() {
		HashSecret(s)
	}
}
