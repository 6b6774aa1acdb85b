package storetest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// Backup copies the data of a stopped store in dir to a new directory.
func Backup(dir, to string) error {
	if err := os.CopyFS(to, os.DirFS(filepath.Join(dir, component.KeptDir))); err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	return nil
}

// Restore replaces the data of a stopped store by a backup.
func Restore(from, dir string) error {
	kept := filepath.Join(dir, component.KeptDir)
	if err := os.RemoveAll(kept); err != nil {
		return fmt.Errorf("restore the store: %w", err)
	}
	if err := os.CopyFS(kept, os.DirFS(from)); err != nil {
		return fmt.Errorf("restore the store: %w", err)
	}
	return nil
}
