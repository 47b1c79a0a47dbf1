//go:build darwin

package extract

import "errors"

// confine limits what the process may use; what it may open can't be limited on this system.
func confine(limits Limits) (half, err error) {
	return nil, errors.Join(limitResources(limits), errors.New("this system has no way to take files and connections from a process"))
}

// confineTool is confine for another program.
func confineTool(limits Limits, _ []string) error {
	_, err := confine(limits)
	return err
}
