package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// environment is what figures depend on, as it was when the run began.
type environment struct {
	commit      string // of the checkout; ends in -dirty where files were changed
	binary      string // version of the measured binary
	date        time.Time
	goVersion   string
	cores       int
	load        string // averages of 1, 5 and 15 minutes
	repetitions int
}

type field struct{ name, value string }

func (e environment) fields() []field {
	return []field{
		{"commit", e.commit},
		{"binary built from", e.binary},
		{"date", e.date.UTC().Format(time.RFC3339)},
		{"Go", e.goVersion},
		{"cores", strconv.Itoa(e.cores)},
		{"load average at start", e.load},
		{"repetitions", strconv.Itoa(e.repetitions)},
	}
}

// unknown is printed for a fact of the machine that cannot be read.
const unknown = "unknown"

func (b *bench) environment(ctx context.Context) (environment, error) {
	version, err := b.version(ctx)
	if err != nil {
		return environment{}, err
	}
	e := environment{
		commit: unknown, binary: version, date: time.Now(), load: unknown, repetitions: b.n,
		goVersion: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH, cores: runtime.NumCPU(),
	}
	// The same words as VERSION of the Makefile, so that both can be compared.
	if out, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output(); err == nil {
		e.commit = strings.TrimSpace(string(out))
	}
	if raw, err := os.ReadFile("/proc/loadavg"); err == nil {
		if f := strings.Fields(string(raw)); len(f) >= 3 {
			e.load = strings.Join(f[:3], " ")
		}
	}
	return e, nil
}

// version of the binary that is measured.
func (b *bench) version(ctx context.Context) (string, error) {
	out, err := b.output(ctx, "version", "-o", "json")
	if err != nil {
		return "", err
	}
	var v struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(out, &v); err != nil {
		return "", fmt.Errorf("cannot read the version of the binary: %w", err)
	}
	return v.Version, nil
}
