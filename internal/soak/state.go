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
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
)

// formatVersion is the schema version of a soak's file.
const formatVersion = 1

// State is the file of a soak, in the directory of the runs.
type State struct {
	Format int       `json:"format"`
	ID     string    `json:"id"`
	Began  time.Time `json:"began"`
	// Duration of the soak, Every is the time from the start of a repetition to that of the next.
	Duration metav1.Duration `json:"duration"`
	Every    metav1.Duration `json:"every"`
	// Inputs is the SHA-256 of the site, the profile and the selection of checks.
	Inputs string `json:"inputs"`
	// Runs are the repetitions that came to their end, in order.
	Runs []string `json:"runs"`
	// Ended: the duration is over.
	Ended bool `json:"ended"`
}

// End is when the duration is over.
func (s State) End() time.Time { return s.Began.Add(s.Duration.Duration) }

// ErrLocked is returned for a soak that another process works on.
var ErrLocked = errors.New("another process works on the soak")

// Soak is a soak of this process.
type Soak struct {
	State
	// Resumed: an earlier process began it.
	Resumed bool

	path string
	lock *flock.Flock
}

// Open continues the unfinished soak in dir that has the same duration, interval and inputs, or
// begins a new one, always if fresh. ErrLocked: another process works on it.
func Open(dir string, want State, now time.Time, fresh bool) (*Soak, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the soak: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "soak-*.json"))
	if err != nil {
		return nil, fmt.Errorf("find a soak: %w", err)
	}
	slices.Sort(files)
	for _, path := range slices.Backward(files) {
		s, err := Read(path)
		if err != nil {
			return nil, err
		}
		if fresh || s.Ended || s.Duration != want.Duration || s.Every != want.Every || s.Inputs != want.Inputs {
			continue
		}
		return locked(&Soak{State: s, Resumed: true, path: path})
	}
	want.Format, want.ID, want.Began, want.Runs = formatVersion, now.UTC().Format("20060102-150405"), now.UTC(), []string{}
	out, err := locked(&Soak{State: want, path: filepath.Join(dir, "soak-"+want.ID+".json")})
	if err != nil {
		return nil, err
	}
	return out, errors.Join(out.save())
}

func locked(s *Soak) (*Soak, error) {
	s.lock = flock.New(s.path + ".lock")
	held, err := s.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the soak: %w", err)
	}
	if !held {
		return nil, fmt.Errorf("%w: %s", ErrLocked, s.path)
	}
	return s, nil
}

// Close lets other processes continue the soak.
func (s *Soak) Close() error {
	if err := s.lock.Close(); err != nil {
		return fmt.Errorf("unlock the soak: %w", err)
	}
	return nil
}

// Read reads the file of a soak.
func Read(path string) (State, error) {
	var s State
	data, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("read the soak: %w", err)
	}
	if err := strictjson.Unmarshal(bytes.TrimSpace(data), &s); err != nil {
		return s, fmt.Errorf("read the soak in %s: %w", path, err)
	}
	if s.Format != formatVersion {
		return s, fmt.Errorf("read the soak in %s: unsupported schema version %d: want %d", path, s.Format, formatVersion)
	}
	return s, nil
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
