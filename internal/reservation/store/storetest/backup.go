package storetest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// Backup copies what the store in a directory keeps to a directory that does not exist
// yet. The store must not run.
func Backup(dir, to string) error {
	if err := os.CopyFS(to, os.DirFS(filepath.Join(dir, component.KeptDir))); err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	return nil
}

// Restore puts such a copy back in the place of what is kept. The store must not run.
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
