//go:build !unix

package extract

import "errors"

// runInstead can't be done on this system.
func runInstead(string, []string, []string) error {
	return errors.New("this system does not let a program take the place of another")
}
