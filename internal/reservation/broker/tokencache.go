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

	"github.com/firstlight/firstlight/internal/atomicfile"
)

// TokenCache is a directory on this machine with the leases that this user holds in one store, a
// file per reservation, so that extend and release need no token argument. A token is not a
// secret. A cached lease may be stale; the store decides.
type TokenCache string

// localStoreDir is the directory of the local store, whose certificates change at each start.
const localStoreDir = "own"

// TokenCacheOf returns the directory of a store below home, named by its certificate authority and
// address, without a request; a nil config is the local store.
func TokenCacheOf(home string, config *rest.Config) (TokenCache, error) {
	if config == nil {
		return TokenCache(filepath.Join(home, localStoreDir)), nil
	}
	ca := config.CAData
	if len(ca) == 0 && config.CAFile != "" {
		var err error
		if ca, err = os.ReadFile(config.CAFile); err != nil {
			return "", fmt.Errorf("cannot identify the store: read its certificate authority: %w", err)
		}
	}
	sum := sha256.Sum256(slices.Concat([]byte(config.Host+"\n"), ca))
	return TokenCache(filepath.Join(home, hex.EncodeToString(sum[:8]))), nil
}

// ErrNoToken means that the cache has no lease of the reservation.
var ErrNoToken = errors.New("no lease of it in this store is cached on this machine")

func (d TokenCache) path(name string) string { return filepath.Join(string(d), name+".json") }

// Put stores a grant.
func (d TokenCache) Put(g Grant) error {
	raw, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		return fmt.Errorf("cache the lease of %s: %w", g.Reservation, err)
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("cache the lease of %s: %w", g.Reservation, err)
	}
	if err := atomicfile.Write(d.path(g.Reservation), append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("cache the lease of %s: %w", g.Reservation, err)
	}
	return nil
}

// Get returns a cached grant, or ErrNoToken.
func (d TokenCache) Get(name string) (Grant, error) {
	raw, err := os.ReadFile(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return Grant{}, fmt.Errorf("lease of %s: %w", name, ErrNoToken)
	}
	if err != nil {
		return Grant{}, fmt.Errorf("read the cached lease of %s: %w", name, err)
	}
	var g Grant
	if err := json.Unmarshal(raw, &g); err != nil {
		return Grant{}, fmt.Errorf("read the cached lease of %s from %s: %w", name, d.path(name), err)
	}
	return g, nil
}

// Delete removes a cached grant if it has this token.
func (d TokenCache) Delete(name string, token int64) error {
	g, err := d.Get(name)
	if errors.Is(err, ErrNoToken) || err == nil && g.Token != token {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete the cached lease of %s: %w", name, err)
	}
	return nil
}
