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

// record is what is known of a deployment. Its labels are those of Deployment.
type record struct {
	hook.Deployment
	Cloud string `json:"cloud"`
	// Removing: teardown has begun; nothing makes it stand again.
	Removing bool `json:"removing,omitempty"`
}

// highest is the highest token that was seen of a reservation.
type highest struct {
	Token int64 `json:"token"`
}

func (p *Provider) recordPath(name string) string {
	return filepath.Join(p.opts.Dir, "deployments", name+".json")
}

func (p *Provider) tokenPath(reservation string) string {
	return filepath.Join(p.opts.Dir, "tokens", filepath.Base(reservation)+".json")
}

// record reads that of a deployment; nil: there is none.
func (p *Provider) record(name string) (*record, error) {
	r := &record{}
	err := read(p.recordPath(name), r)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none, and that is no error
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// records reads those of all deployments, in order of their names. One that can't be read
// is an error: what stands must not be overlooked.
func (p *Provider) records() ([]*record, error) {
	entries, err := os.ReadDir(filepath.Join(p.opts.Dir, "deployments"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list deployments: %w", err)
	}
	var out []*record
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(name, ".") {
			continue // being written
		}
		r, err := p.record(name)
		if err != nil {
			return nil, err
		}
		if r != nil { // else it was removed meanwhile
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *record) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// every is how often a lock that somebody has is tried again.
const every = 50 * time.Millisecond

// lock keeps others from changing something of a reservation. The kernel lets go of it when
// the process ends, however it ends.
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

// StaleError refuses a token that is lower than one that was seen.
type StaleError struct {
	Reservation   string
	Token, Higher int64
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("token %d of reservation %s is stale: %d was seen", e.Token, e.Reservation, e.Higher)
}

// raise notes a token, or refuses it. The caller holds the reservation's lock.
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
