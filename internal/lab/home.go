package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// DefaultName is the lab that commands mean when none is named.
const DefaultName = "lab"

var nameRE = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

// CheckName says whether a lab may be called that.
func CheckName(name string) error {
	if !nameRE.MatchString(name) {
		return fmt.Errorf("lab name %q: want lower-case letters, digits and dashes, at most 32", name)
	}
	return nil
}

// Home is where labs live: $FIRSTLIGHT_HOME, else firstlight in the XDG state directory.
func Home() (string, error) {
	if dir := os.Getenv("FIRSTLIGHT_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "firstlight"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find a place for labs: %w (set FIRSTLIGHT_HOME)", err)
	}
	return filepath.Join(home, ".local", "state", "firstlight"), nil
}

// ownMark is the file that makes a directory a lab's.
const ownMark = ".firstlight-lab"

// ownDir makes the directory a lab's, so that what it holds may be deleted. A
// directory with anything in it that is no lab's is refused: it would lose it.
func ownDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the lab's directory: %w", err)
	}
	mark := filepath.Join(dir, ownMark)
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("make the lab's directory: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("directory %s holds %s, which is no lab's: give the lab a directory of its own", dir, entries[0].Name())
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return fmt.Errorf("make the lab's directory: %w", err)
	}
	return nil
}

// DirOf is the directory of the lab of that name.
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
