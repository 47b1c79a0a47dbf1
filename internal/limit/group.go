package limit

import "net/netip"

// The prefixes that are usually one subscriber's, or one network's: what is counted by address is counted
// by them, as one of them has addresses enough to pass for many.
const (
	groupBits4 = 24
	groupBits6 = 64
)

// AddressGroup is the /24 of an IPv4 address or the /64 of an IPv6 address; what is no address is its own group.
func AddressGroup(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	a = a.Unmap()
	bits := groupBits6
	if a.Is4() {
		bits = groupBits4
	}
	group, _ := a.Prefix(bits) // the number of bits fits
	return group.String()
}
