package oci

import (
	"errors"
	"fmt"
	"strings"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/firstlight/firstlight/internal/probe/origin"
)

// Scheme is what a reference may begin with.
const Scheme = "oci://"

// ErrReference is of a reference that can not be one.
var ErrReference = errors.New("not a reference to an artifact")

// Options of Push and Pull.
type Options struct {
	// PlainHTTP speaks without TLS also to registries that are not on loopback.
	PlainHTTP bool
	// MaxBytes bounds the archive that is pulled; zero is 8 GiB.
	MaxBytes int64
	// Tell receives the bytes transferred so far and the total; may be nil.
	Tell func(done, total int64)
}

const defaultMaxBytes = 8 << 30

// repository opens the repository of a reference, HOST/REPOSITORY:TAG or
// HOST/REPOSITORY@DIGEST.
func repository(ref string, o Options) (*remote.Repository, registry.Reference, error) {
	parsed, err := registry.ParseReference(strings.TrimPrefix(ref, Scheme))
	if err != nil {
		return nil, registry.Reference{}, fmt.Errorf("%w: %q: %w: give oci://HOST/REPOSITORY:TAG", ErrReference, ref, err)
	}
	if parsed.Reference == "" {
		return nil, registry.Reference{}, fmt.Errorf("%w: %q names neither a tag nor a digest: give oci://HOST/REPOSITORY:TAG", ErrReference, ref)
	}
	repo, err := remote.NewRepository(parsed.Registry + "/" + parsed.Repository)
	if err != nil {
		return nil, registry.Reference{}, fmt.Errorf("%w: %q: %w", ErrReference, ref, err)
	}
	repo.PlainHTTP = o.PlainHTTP || origin.Loopback(parsed.Host())
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, registry.Reference{}, fmt.Errorf("read the Docker configuration: %w", err)
	}
	repo.Client = &auth.Client{Client: origin.Registry(retry.DefaultClient, o.PlainHTTP), Cache: auth.NewCache(), Credential: credentials.Credential(store)}
	return repo, parsed, nil
}
