//go:build !linux && !darwin

package extract

import "errors"

// confine can do nothing on this system.
func confine(Limits) (half, err error) {
	return nil, errors.New("this system has no way to take files and connections from a process")
}

// confineTool is confine for another program.
func confineTool(Limits, []string) error {
	_, err := confine(Limits{})
	return err
}
