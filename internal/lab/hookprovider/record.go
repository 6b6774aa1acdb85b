package hookprovider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// record is the state of a deployment.
type record struct {
	hook.Deployment
	Cloud string `json:"cloud"`
	// Removing: teardown has started; provision refuses it.
	Removing bool `json:"removing,omitempty"`
}

type highest struct {
	Token int64 `json:"token"`
}

func (p *Provider) recordPath(name string) string {
	return filepath.Join(p.opts.Dir, "deployments", name+".json")
}

func (p *Provider) tokenPath(reservation string) string {
	return filepath.Join(p.opts.Dir, "tokens", filepath.Base(reservation)+".json")
}

// record reads the record of a deployment; nil if absent.
func (p *Provider) record(name string) (*record, error) {
	r := &record{}
	err := read(p.recordPath(name), r)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// records reads all records, sorted by name. An unreadable record is an error, because a
// deployment must not be overlooked.
func (p *Provider) records() ([]*record, error) {
	entries, err := os.ReadDir(filepath.Join(p.opts.Dir, "deployments"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list deployments: %w", err)
	}
	var out []*record
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(name, ".") {
			continue // a temporary file
		}
		r, err := p.record(name)
		if err != nil {
			return nil, err
		}
		if r != nil { // otherwise removed in the meantime
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *record) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// every is the interval of lock attempts.
const every = 50 * time.Millisecond

// lock serializes changes to a reservation. The kernel releases it when the process ends.
func (p *Provider) lock(ctx context.Context, reservation string) (unlock func() error, err error) {
	dir := filepath.Join(p.opts.Dir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock reservation %s: %w", reservation, err)
	}
	l := flock.New(filepath.Join(dir, filepath.Base(reservation)), flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, every); err != nil {
		return nil, fmt.Errorf("lock reservation %s: %w: %w", reservation, hook.ErrTemporary, err)
	}
	return l.Close, nil
}

// StaleError refuses a token below the highest one.
type StaleError struct {
	Reservation   string
	Token, Higher int64
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("token %d of reservation %s is stale: the highest is %d", e.Token, e.Reservation, e.Higher)
}

// raise records a token, or refuses it. The caller holds the lock of the reservation.
func (p *Provider) raise(reservation string, token int64) error {
	var h highest
	err := read(p.tokenPath(reservation), &h)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case token < h.Token:
		return &StaleError{Reservation: reservation, Token: token, Higher: h.Token}
	case token == h.Token:
		return nil
	}
	return write(p.tokenPath(reservation), highest{Token: token})
}
