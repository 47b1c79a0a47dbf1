package db

import (
	"reflect"
	"strings"
	"time"
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

// sent lists the columns of a row for a statement that gives very many of them: moments go as PostgreSQL has them, which takes both sides a
// fifth of what their texts do.
func sent[P any](alias string) string {
	list := columns[P](alias)
	for f := range reflect.TypeFor[P]().Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("db"), ",")
		if name != "" && option != "joined" && (f.Type == reflect.TypeFor[time.Time]() || f.Type == reflect.TypeFor[*time.Time]()) {
			list = strings.Replace(list, alias+"."+name, "timestamptz_send("+alias+"."+name+") AS "+name, 1)
		}
	}
	return list
}

// nested lists the columns of a row as those of a field of another row, which a scan finds by the field's name.
func nested[P any](alias, field string) string {
	list := strings.Split(columns[P](alias), ", ")
	for i, column := range list {
		list[i] = column + ` AS "` + field + strings.TrimPrefix(column, alias) + `"`
	}
	return strings.Join(list, ", ")
}
