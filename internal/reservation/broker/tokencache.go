// Package held remembers, on this machine, the tokens of the leases that this user
// holds, so that who extends or releases one needs not type its token. A token
// is no secret: it proves nothing but which grant is meant. What is remembered may be
// stale; the store decides. Two stores may have reservations of one name: tokens of one are
// not shown to another.
package broker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/client-go/rest"
)

// Dir is where the leases of one store are remembered, one file a reservation.
type TokenCache string

// ownStore names the store of firstlight's own, whose certificates are new at each start.
const localStoreDir = "own"

// Of is the directory of a store below home: of its certificate authority and address,
// which need no request; nil is the store of firstlight's own.
func TokenCacheOf(home string, config *rest.Config) (TokenCache, error) {
	if config == nil {
		return TokenCache(filepath.Join(home, localStoreDir)), nil
	}
	ca := config.CAData
	if len(ca) == 0 && config.CAFile != "" {
		var err error
		if ca, err = os.ReadFile(config.CAFile); err != nil {
			return "", fmt.Errorf("find the leases of the store: read its certificate authority: %w", err)
		}
	}
	sum := sha256.Sum256(slices.Concat([]byte(config.Host+"\n"), ca))
	return TokenCache(filepath.Join(home, hex.EncodeToString(sum[:8]))), nil
}

// ErrNone says that no lease of a reservation is remembered.
var ErrNoToken = errors.New("no lease of it in this store is remembered on this machine")

func (d TokenCache) path(name string) string { return filepath.Join(string(d), name+".json") }

// Remember writes a grant down.
func (d TokenCache) Put(g Grant) error {
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
func (d TokenCache) Get(name string) (Grant, error) {
	raw, err := os.ReadFile(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return Grant{}, fmt.Errorf("lease of %s: %w", name, ErrNoToken)
	}
	if err != nil {
		return Grant{}, fmt.Errorf("recall the lease of %s: %w", name, err)
	}
	var g Grant
	if err := json.Unmarshal(raw, &g); err != nil {
		return Grant{}, fmt.Errorf("recall the lease of %s from %s: %w", name, d.path(name), err)
	}
	return g, nil
}

// Forget drops what was remembered, if it is of that token.
func (d TokenCache) Delete(name string, token int64) error {
	g, err := d.Get(name)
	if errors.Is(err, ErrNoToken) || err == nil && g.Token != token {
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
