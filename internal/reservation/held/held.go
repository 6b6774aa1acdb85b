// Package held remembers, on this machine, the tokens of the leases that this user
// holds, so that who extends or releases one needs not type its token. A token
// is no secret: it proves nothing but which grant is meant. What is remembered may be
// stale; the store decides.
package held

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/reservation/broker"
)

// Dir is where leases are remembered, one file a reservation.
type Dir string

// ErrNone says that no lease of a reservation is remembered.
var ErrNone = errors.New("no lease of it is remembered on this machine")

func (d Dir) path(name string) string { return filepath.Join(string(d), name+".json") }

// Remember writes a grant down.
func (d Dir) Remember(g broker.Grant) error {
	raw, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		return fmt.Errorf("remember the lease of %s: %w", g.Reservation, err)
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("remember the lease of %s: %w", g.Reservation, err)
	}
	tmp, err := os.CreateTemp(string(d), ".lease-*")
	if err != nil {
		return fmt.Errorf("remember the lease of %s: %w", g.Reservation, err)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // gone after the rename
	_, err = tmp.Write(append(raw, '\n'))
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("remember the lease of %s: %w", g.Reservation, err)
	}
	if err := os.Rename(tmp.Name(), d.path(g.Reservation)); err != nil {
		return fmt.Errorf("remember the lease of %s: %w", g.Reservation, err)
	}
	return nil
}

// Recall reads what was remembered; ErrNone when there is nothing.
func (d Dir) Recall(name string) (broker.Grant, error) {
	raw, err := os.ReadFile(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return broker.Grant{}, fmt.Errorf("lease of %s: %w", name, ErrNone)
	}
	if err != nil {
		return broker.Grant{}, fmt.Errorf("recall the lease of %s: %w", name, err)
	}
	var g broker.Grant
	if err := json.Unmarshal(raw, &g); err != nil {
		return broker.Grant{}, fmt.Errorf("recall the lease of %s from %s: %w", name, d.path(name), err)
	}
	return g, nil
}

// Forget drops what was remembered, if it is of that token.
func (d Dir) Forget(name string, token int64) error {
	g, err := d.Recall(name)
	if errors.Is(err, ErrNone) || err == nil && g.Token != token {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the lease of %s: %w", name, err)
	}
	return nil
}
