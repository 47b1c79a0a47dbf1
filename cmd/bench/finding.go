package main

import (
	"fmt"
	"net/url"
	"strings"
)

// usersOfEach is how many users each company has that has any, in the figures of finding: there are as many users as companies.
const usersOfEach = 500

// found measures what is asked of long lists by REST: each order and each filter of companies and users, in turn, of the root, of a branch of
// all companies, and of companies at each depth below.
func (b *bencher) found(timed func(name, wanted string, what call), top int64) {
	// Of ten companies below each, that many are passed by until the first of the next level.
	within := []int64{1, top}
	for first, of := int64(0), int64(10); first < int64(b.o.customers); first, of = first+of, of*10 {
		within = append(within, top+1+first, top+1+min(first+of, int64(b.o.customers))-1)
	}
	const wanted = "p99 < 20 ms"
	ask := func(name, path string, questions ...string) {
		timed(name, wanted, call{method: "GET", vary: func(n int) (string, string) {
			at := within[n%len(within)]
			return strings.Replace(path, "{cid}", fmt.Sprint(at), 1) + "limit=50&" + questions[n/len(within)%len(questions)], ""
		}})
	}
	ask("companies in each order, at each depth", "/tenant/customers/{cid}?", "orderBy=name", "orderBy=-name", "orderBy=createdAt", "orderBy=-createdAt", "orderBy=id", "orderBy=-id")
	ask("companies by each filter, at each depth", "/tenant/customers/{cid}?", "level=5&orderBy=name", "level=5&orderBy=-name", "level=9&orderBy=-name", "regionId=1&orderBy=-name",
		"regionId=2&orderBy=name", "regionId=2", "createdSince=2100-01-01T00:00:00Z", fmt.Sprintf("parentId=%d&orderBy=name", top+1),
		fmt.Sprintf("ids=%d,%d&orderBy=name", top+1, top+100), "createdSince=2100-01-01T00:00:00Z&orderBy=name", "createdUntil=2100-01-01T00:00:00Z&orderBy=-createdAt")
	ask("users in each order, at each depth", "/tenant/users/{cid}?subtree=true&", "orderBy=name", "orderBy=-name", "orderBy=email", "orderBy=-email", "orderBy=-createdAt", "orderBy=-id", "orderBy=lastAccess", "orderBy=-lastAccess")
	ask("users by each filter, at each depth", "/tenant/users/{cid}?subtree=true&", "hasPassword=true&orderBy=name", "hasPassword=false&orderBy=-email", "hasPassword=false&orderBy=id", "createdUntil=2100-01-01T00:00:00Z&orderBy=-id",
		fmt.Sprintf("email=user7.company%d@seed.example", top+5), fmt.Sprintf("customerId=%d&orderBy=name", top+5), "lastAccessSince=2020-01-01T00:00:00Z&orderBy=name", "createdSince=2100-01-01T00:00:00Z", "createdUntil=2100-01-01T00:00:00Z&orderBy=name")
	// Names, words, beginnings, and all within one edit.
	ask("companies by a search, at each depth", "/tenant/customers/{cid}?", "search=Company+0000123", "search=0000123&orderBy=-name", "search=Company&orderBy=name", "search=00001&orderBy=-createdAt", "search=Compny+0000123", "search=Granite")
	ask("users by a search, at each depth", "/tenant/users/{cid}?subtree=true&", fmt.Sprintf("search=user7.company%d", top+5), "search=User+12&orderBy=-name", "search=seed.example&orderBy=email", fmt.Sprintf("search=Usre+7+Company+%d", top+5), "search=Lovelace")
	texts := []func(n int) string{
		func(n int) string { return fmt.Sprintf("Company %07d", n) },
		func(n int) string { return fmt.Sprintf("user%d.company%d@seed.example", 1+n%usersOfEach, top+5) },
		func(n int) string { return fmt.Sprintf("Compnay %07d", n) },
		func(n int) string { return fmt.Sprintf("%07d", n) },
		func(n int) string { return fmt.Sprintf("User %d Comp", 1+n%usersOfEach) },
		func(n int) string { return "Company "[:1+n%8] },
		func(n int) string { return fmt.Sprintf("company 0%02d", n%100) },
		func(int) string { return "Granite Harbour" },
		func(int) string { return "Compny" },
		func(n int) string { return fmt.Sprint(top + int64(n)) },
		func(int) string { return "0191d6a8-4f60-7c3e-9d0a-1f2e3d4c5b6a" },
	}
	timed("search for names, addresses, ids", "p99 < 30 ms", call{method: "GET", vary: func(n int) (string, string) {
		return "/tenant/search?text=" + url.QueryEscape(texts[n%len(texts)](n*7919%b.o.customers)), ""
	}})
	ask("permissions by each filter, at each depth", "/v1/permissions?customerId={cid}&", "orderBy=-createdAt", "disabled=true", "disabled=false&orderBy=-id", "roleId=1")
}
