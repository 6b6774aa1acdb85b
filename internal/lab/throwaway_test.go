package lab

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A throwaway lab schedules. Its start deletes the directories of dead processes, and its end its
// own.
func TestThrowaway(t *testing.T) {
	needPrograms(t)
	home := t.TempDir()
	t.Setenv("FIRSTLIGHT_HOME", home)
	parent := filepath.Join(home, throwawayDir)
	abandoned, made, used := filepath.Join(parent, "plane-abandoned"), filepath.Join(parent, "plane-made-just-now"), filepath.Join(parent, "plane-used")
	lock, err := lockDir(abandoned)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil { // as after the death of its owner
		t.Fatal(err)
	}
	if lock, err = lockDir(used); err != nil {
		t.Fatal(err)
	}
	defer lock.Close() //nolint:errcheck // the test has ended
	if err := os.MkdirAll(made, 0o700); err != nil {
		t.Fatal(err)
	}
	l, end, err := StartThrowaway(t.Context(), Options{Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		t.Fatal(err)
	}
	requireScheduling(t, l)
	if err := end(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	requireGone(t, l.id)
	if left, err := filepath.Glob(filepath.Join(parent, "plane-*")); err != nil || !slices.Equal(left, []string{made, used}) {
		t.Errorf("remaining: %v, %v; want those of other processes, and not that of a dead one", left, err)
	}
}
