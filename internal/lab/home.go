package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// DefaultName is the lab of commands without --name.
const DefaultName = "lab"

var nameRE = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

// CheckName returns an error for an invalid lab name.
func CheckName(name string) error {
	if !nameRE.MatchString(name) {
		return fmt.Errorf("invalid lab name %q: must be at most 32 lower-case letters, digits and dashes", name)
	}
	return nil
}

// Home is the directory of labs: $FIRSTLIGHT_HOME, or firstlight in the XDG state directory.
func Home() (string, error) {
	if dir := os.Getenv("FIRSTLIGHT_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "firstlight"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("cannot find a directory for labs: %w (set FIRSTLIGHT_HOME)", err)
	}
	return filepath.Join(home, ".local", "state", "firstlight"), nil
}

// markerFile identifies a directory as a lab's.
const markerFile = ".firstlight-lab"

// ownDir creates or claims the lab's directory. It refuses a non-empty directory without the
// marker file, because the lab deletes its directory's content.
func ownDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the lab's directory: %w", err)
	}
	mark := filepath.Join(dir, markerFile)
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("make the lab's directory: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("directory %s has %s and is not a lab's: use an empty directory", dir, entries[0].Name())
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return fmt.Errorf("make the lab's directory: %w", err)
	}
	return nil
}

// DirOf returns the directory of the named lab.
func DirOf(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	home, err := Home()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, "labs", name), nil
}
