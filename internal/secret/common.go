package secret

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ccojocar/zxcvbn-go/data"
)

// commonLists are the lists of zxcvbn that together have the passwords that are used most: that of passwords
// leaves out what stands in one of the others.
var commonLists = []string{"Passwords", "English", "MaleNames", "FemaleNames", "Surnames"}

// common are the passwords that are used most, sorted. They are read when the first is asked for.
var common = sync.OnceValue(func() []string {
	var all []string
	for _, name := range commonLists {
		raw, err := data.Asset("data/" + name + ".json")
		var content struct{ List []string }
		if err == nil {
			err = json.Unmarshal(raw, &content)
		}
		if err != nil {
			panic(fmt.Errorf("the list %s is part of the program: %w", name, err))
		}
		all = append(all, content.List...)
	}
	slices.Sort(all)
	return slices.Compact(all)
})

// IsCommon tells whether a password is one of those that are used most, in letters of any case, or such a one
// and the digits from 1 on.
func IsCommon(password string) bool {
	p := strings.ToLower(password)
	if isListed(p) {
		return true
	}
	const counted = "1234567890"
	for n := 1; n <= len(counted); n++ {
		if word, ends := strings.CutSuffix(p, counted[:n]); ends && isListed(word) {
			return true
		}
	}
	return false
}

func isListed(word string) bool {
	_, found := slices.BinarySearch(common(), word)
	return found
}
