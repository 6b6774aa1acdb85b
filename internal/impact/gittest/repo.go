// Package gittest makes git repositories for tests.
package gittest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repo is a repository in a temporary directory, on branch main.
type Repo struct {
	Dir string
	t   testing.TB
}

// New makes an empty repository.
func New(tb testing.TB) *Repo {
	tb.Helper()
	r := &Repo{Dir: tb.TempDir(), t: tb}
	r.Git("init", "-q", "-b", "main")
	return r
}

// Git runs a git command and returns its output; it fails the test on error.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	out, err := r.run(args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// Try runs a git command that may fail.
func (r *Repo) Try(args ...string) error {
	_, err := r.run(args...)
	return err
}

func (r *Repo) run(args ...string) (string, error) {
	settings := []string{
		"-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false",
		"-c", "gc.auto=0", "-c", "advice.detachedHead=false", "-c", "protocol.file.allow=always",
	}
	cmd := exec.CommandContext(r.t.Context(), "git", append(settings, args...)...)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	for _, name := range []string{"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"} {
		cmd.Env = without(cmd.Env, name)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

func without(env []string, name string) []string {
	var out []string
	for _, v := range env {
		if !strings.HasPrefix(v, name+"=") {
			out = append(out, v)
		}
	}
	return out
}

func (r *Repo) Write(files map[string]string) {
	r.t.Helper()
	for name, text := range files {
		at := filepath.Join(r.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

// Remove deletes a file of the working tree.
func (r *Repo) Remove(name string) {
	r.t.Helper()
	if err := os.Remove(filepath.Join(r.Dir, filepath.FromSlash(name))); err != nil {
		r.t.Fatal(err)
	}
}

// Commit writes files, commits everything in the working tree, and returns the commit's ID.
func (r *Repo) Commit(message string, files map[string]string) string {
	r.t.Helper()
	r.Write(files)
	r.Git("add", "-A")
	r.Git("commit", "-q", "--allow-empty", "-m", message)
	return r.Git("rev-parse", "HEAD")
}
