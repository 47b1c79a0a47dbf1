package db

import (
	"reflect"
	"strings"
)

// columns lists the columns that a row's fields name, of the row's own table under its alias. A
// field whose value comes from elsewhere is marked (`db:"via,joined"`); each statement says where from.
func columns[P any](alias string) string {
	var list []string
	for f := range reflect.TypeFor[P]().Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("db"), ",")
		if name != "" && option != "joined" {
			list = append(list, alias+"."+name)
		}
	}
	return strings.Join(list, ", ")
}
