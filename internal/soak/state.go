package soak

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
)

// formatVersion is the schema version of a soak's file.
const formatVersion = 1

// State is the file of a soak, in the directory of the runs.
type State struct {
	Format  int       `json:"format"`
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	// Duration of the soak, Every is the time from the start of a repetition to that of the next.
	Duration metav1.Duration `json:"duration"`
	Every    metav1.Duration `json:"every"`
	// Inputs is the SHA-256 of what the repetitions are judged by.
	Inputs string `json:"inputs"`
	// Complete: the duration is over.
	Complete bool `json:"complete"`
	// Attempts are the repetitions that were begun, oldest first: also those whose evidence is gone.
	Attempts []Attempt `json:"attempts,omitempty"`
}

// Attempt is a repetition that was begun.
type Attempt struct {
	Started time.Time `json:"started"`
	// Run is empty if the repetition ended before its evidence was created.
	Run string `json:"run,omitempty"`
	// Ended is absent if the process ended first.
	Ended   time.Time     `json:"ended,omitzero"`
	Verdict check.Verdict `json:"verdict,omitempty"`
	// Error is why the repetition did not come to its end although its process lived.
	Error string `json:"error,omitempty"`
}

// End is when the duration is over.
func (s State) End() time.Time { return s.Started.Add(s.Duration.Duration) }

// lists reports whether a run is of an attempt.
func (s State) lists(run string) bool {
	return slices.ContainsFunc(s.Attempts, func(a Attempt) bool { return a.Run == run })
}

// idLayout is the time in the ID of a soak, and that at the begin of the ID of a run.
const idLayout = "20060102-150405"

// maxGap is the longest time without an observation in which the soak counts as continuous: a
// restart of the machine that runs it, and the gate that was lost with it.
func (s State) maxGap() time.Duration {
	return max(time.Minute, min(time.Hour, s.Duration.Duration/10))
}

// ErrLocked is returned while another process works on a soak of the directory.
var ErrLocked = errors.New("another process works on a soak in this directory")

// Soak is a soak of this process.
type Soak struct {
	State
	// Continued: an earlier process began it.
	Continued bool

	path string
	lock *flock.Flock
}

// Open continues the soak in dir that is not complete, or begins a new one if fresh, or if the last
// one is complete, over or of another duration, interval or inputs. ErrLocked: another process works
// on one.
func Open(dir string, want State, now time.Time, fresh bool) (*Soak, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the soak: %w", err)
	}
	lock := flock.New(filepath.Join(dir, ".soak.lock"))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the soaks in %s: %w", dir, err)
	}
	if !held {
		return nil, fmt.Errorf("%w: %s", ErrLocked, dir)
	}
	s, err := choose(dir, want, now, fresh)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s.lock = lock
	return s, nil
}

func choose(dir string, want State, now time.Time, fresh bool) (*Soak, error) {
	if !fresh {
		last, path, err := newest(dir)
		if err != nil {
			return nil, err
		}
		same := last.Duration == want.Duration && last.Every == want.Every && last.Inputs == want.Inputs
		if path != "" && same && !last.Complete && now.Before(last.End().Add(last.maxGap())) {
			return &Soak{State: last, Continued: true, path: path}, nil
		}
	}
	want.Format, want.Started = formatVersion, now.UTC().Round(0) // without the monotonic clock: a later process has another
	want.ID = want.Started.Format(idLayout)
	s := &Soak{State: want, path: filepath.Join(dir, "soak-"+want.ID+".json")}
	return s, s.save()
}

// newest reads the newest soak in dir; path is empty without one.
func newest(dir string) (s State, path string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "soak-*.json"))
	if err != nil || len(files) == 0 {
		return s, "", err
	}
	path = slices.Max(files)
	data, err := os.ReadFile(path)
	if err != nil {
		return s, "", fmt.Errorf("read the soak: %w", err)
	}
	if err := strictjson.Unmarshal(bytes.TrimSpace(data), &s); err != nil {
		return s, "", fmt.Errorf("read the soak in %s: %w", path, err)
	}
	if s.Format != formatVersion {
		return s, "", fmt.Errorf("read the soak in %s: unsupported schema version %d: want %d", path, s.Format, formatVersion)
	}
	return s, path, nil
}

// Close lets other processes continue the soak.
func (s *Soak) Close() error {
	if err := s.lock.Close(); err != nil {
		return fmt.Errorf("unlock the soak: %w", err)
	}
	return nil
}

// Began records the run of the repetition that was begun last.
func (s *Soak) Began(run string) error {
	if len(s.Attempts) == 0 {
		return fmt.Errorf("record run %s: no repetition was begun", run)
	}
	s.Attempts[len(s.Attempts)-1].Run = run
	return s.save()
}

func (s *Soak) save() error {
	data, err := json.MarshalIndent(s.State, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the soak: %w", err)
	}
	if err := atomicfile.Write(s.path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("store the soak: %w", err)
	}
	return nil
}

// Digest is the value of State.Inputs.
func Digest(inputs ...[]byte) string {
	h := sha256.New()
	for _, in := range inputs {
		fmt.Fprintf(h, "%d\n%s", len(in), in) // a hash does not fail
	}
	return hex.EncodeToString(h.Sum(nil))
}
