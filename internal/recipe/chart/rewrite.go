package chart

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// rewrite puts a lock into a footprint's file. It says whether the file is another
// one now. Whoever reads the file meets the old or the new one, never a part.
func rewrite(file, name string, c change) (bool, error) {
	before, err := os.ReadFile(file)
	if err != nil {
		return false, fmt.Errorf("read footprint: %w", err)
	}
	after, err := edited(name, before, c)
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	if err := replaceFile(file, after); err != nil {
		return false, fmt.Errorf("write footprint: %w", err)
	}
	return true, nil
}

func replaceFile(file string, data []byte) (err error) {
	info, err := os.Stat(file)
	if err != nil {
		return err //nolint:wrapcheck // the caller says what was done
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".footprint-*")
	if err != nil {
		return err //nolint:wrapcheck // the caller says what was done
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Chmod(info.Mode().Perm()), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err = os.Rename(temp.Name(), file); err != nil {
		return err //nolint:wrapcheck // the caller says what was done
	}
	return syncDirectory(filepath.Dir(file))
}

// syncDirectory has the new name on disk, too.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err //nolint:wrapcheck // the caller says what was done
	}
	return errors.Join(d.Sync(), d.Close())
}
