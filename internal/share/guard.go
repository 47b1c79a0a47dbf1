package share

import (
	"fmt"
	"runtime/debug"
)

// Guard does something, and gives a panic as an error with its stack. What is done in a goroutine of its own is done so: a panic that nobody
// catches ends the process, with all that others do there.
func Guard(do func() error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	return do()
}

// Guarded is Guard for what gives a value, too.
func Guarded[T any](do func() (T, error)) (value T, err error) {
	err = Guard(func() (err error) {
		value, err = do()
		return err
	})
	return value, err
}
