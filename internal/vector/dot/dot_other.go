//go:build !amd64

package dot

func product(q []int16, v []int8) int32 { return plain(q, v) }
