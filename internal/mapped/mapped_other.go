//go:build !linux

package mapped

import "errors"

func onDisk(string) error { return errors.ErrUnsupported }

func (f *Folder) put([]byte) (mapping, error) { return nil, errors.ErrUnsupported }

func (m mapping) unmap() error { return nil }
