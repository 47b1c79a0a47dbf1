//go:build !linux

package spill

import (
	"errors"
	"os"
)

func onDisk(string) error { return errors.ErrUnsupported }

func (f *Folder) write(*os.File, []byte, int64) error { return errors.ErrUnsupported }

func here(*os.File) {}

func punch(*os.File, int64, int64) error { return errors.ErrUnsupported }
